"""Tables 2 and 3 of MVNA-KMHKS (Wang, Chen and Gao, 2011, section 5.3), and what it says in words.

The paper's text that we have lacks its settings: kernel, grids, rho and m of Table 2. All of them
are ours, but M = 2, m = 512 for Table 3, and the vote of all pairs of classes.

Table 2
  data     five tables of the UCI repository and iris, with the defaults of
           :func:`mvref.datasets.fetch_uci`: lung-cancer 32 samples, house-votes-84 435 (no vote is
           a value), shuttle-landing-control 15 (so is "does not matter"), horse-colic 368 by
           lesion, echocardiogram 131 by still alive. Other gaps are filled with the mean or the
           most frequent code of all samples. Codes count as numbers; features are standardised by
           the training part.
  halves   ten random test parts of half of each class, rounded down; the printed digits fit such
           halves (erratum N19).
  folds    ten-fold cross-validation, which the text states; a repeat is one fold. Samples are dealt
           out class by class, so that the 15 rules of the shuttle give folds of 1 or 2, lung-cancer
           folds of 3 or 4.
  tuning   three stratified folds of the training part: `WIDTHS` times its mean distance, `C`,
           `COUPLINGS`. Of equally good parameters the widest kernel is taken, then the largest c
           and coupling. m is half of what is trained on, mu = 1/2, xi = 1e-4.
  readings the halves once more, each with one change: ``halves-narrow``, of equally good
           parameters the narrowest kernel, then the smallest c and coupling (on the same halves);
           ``halves-outcome`` and ``halves-surgery``, the other targets of horse-colic;
           ``halves-months``, echocardiogram with the months of survival as an input. For the
           methods of the paper alone.

Table 2, universes
  Nothing is tuned: all of `SCALINGS` x `UNIVERSE_WIDTHS` x `UNIVERSE_SHARES` x `UNIVERSE_C`, the
  same for the four methods of the paper, on ten halves; coupling 1, at least two components. A
  universe is one choice of all that our copy of the text leaves open.

Table 3    Digit against the rest, 3823 samples train and 1797 test, pixels divided by 16. The paper
           has the nine digits but 1; ours has 1 too. Parameters from `DIGIT_WIDTHS`, `DIGIT_C` and
           `DIGIT_COUPLINGS` by a stratified third of the training file, after training on the
           rest; then training on all of it. What draws components does so three times.
  untuned  One point for all digits: width .5, coupling 1, and c of `UNTUNED_C`.
  paired   MVNA less a rival of the paper, error by error, on the same test images, summed over the
           nine digits: ``difference``; ``std_error``, over the images; ``only_mvna`` and
           ``only_rival``, errors that the other does not make. With the parameters that
           `table3` has chosen, and untuned; the machines are those of these two items.

Methods
  MVNA           MVNA-KMHKS at the minimum of Eq. (4), with the Nyström extension
  MVNA-printed   Eqs. (7), (9) and (11) as printed, rho = .5 (Table 2)
  NA-average     MVNA without coupling: the mean of two machines that learn apart. Not in the paper
  NA, KMHKS      one approximation, and the full kernel, at the minimum of Eq. (3)
  SVM            scikit-learn's SVC with C = 1/(2c)
  Majority       the commonest class of the training part, whatever the sample (Table 2)

Others     in ten repeats; two moons have 400 samples to train, 2000 to test and noise .3.
  convergence  Both solvers with c = .1, m = n/4, the kernel exp(-|x - x'|^2), mu = (.5, .5) and
               (.9, .1).
               ``excess``: the last J' of Eq. (4) over its minimum, less 1, where xi = 1e-4 stops
               the solver; ``excess_10`` after ten iterations with xi = 0. ``rises``: the largest
               relative increase of J' in an iteration. ``accuracy`` and ``n_iter`` where xi stops.
  decision     The machines of ``solver="exact"`` that classify by the Nyström extension, and by
               Eq. (11) with the exact kernel (erratum N5), for two kernels exp(-gamma |x - x'|^2),
               some m of the 400 samples, and some c; coupling 1.
  alignment    MVNA and NA with the *same* parameters, c = `ALIGNED_C` and coupling 1, for several
               widths and m/n. ``alignment`` is Eq. (21), ``gain`` the accuracy minus that of NA,
               ``gain_double`` the accuracy minus that of NA with as many components as both views
               of MVNA have. NA has the components of MVNA's first view. mfeat has two sources,
               whose kernels NA adds up. More than two classes: each against the rest.
"""

import json
from functools import partial
from itertools import product

from .engine import Item, Job, derive_seed
from .nystrom_methods import ALIGNMENTS, CHOSEN, SHARE, grid, measures_of, tuned
from .nystrom_parts import digit_parts, table_parts
from .nystrom_studies import (
    CHECKPOINTS,
    aligned,
    decided,
    fixed,
    on_digit_at,
    on_moons,
    paired_errors,
)

DRAWN = ("moons",)
TABLE2 = (
    "lung-cancer", "house-votes-84", "shuttle-landing-control", "horse-colic", "echocardiogram",
    "iris",
)  # fmt: skip
METHODS = ("MVNA", "MVNA-printed", "NA-average", "NA", "KMHKS", "SVM", "Majority")
ON_DIGITS = {"MVNA": 3, "NA-average": 3, "NA": 3, "KMHKS": 1, "SVM": 1}  # repeats
PROTOCOLS = ("halves", "folds")
READINGS = {
    "horse-colic": ("halves-outcome", "halves-surgery"), "echocardiogram": ("halves-months",),
}  # fmt: skip
OF_PAPER = ("MVNA", "NA", "KMHKS", "SVM")
SCALINGS = ("standard", "none")
UNIVERSE_WIDTHS = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
UNIVERSE_SHARES, UNIVERSE_C = (0.06, 0.125, 0.5), (0.01, 0.1, 1.0)
UNIVERSE_DATA = {
    "lung-cancer": "", "house-votes-84": "", "shuttle-landing-control": "",
    "horse-colic": "-surgery", "echocardiogram": "-months",
}  # fmt: skip
N_REPEATS = 10
WIDTHS, C, COUPLINGS = (0.25, 1.0, 4.0), (1e-3, 1e-1, 10.0), (1e-2, 1.0, 100.0)
QUICK_WIDTHS, QUICK_C, QUICK_COUPLINGS = (1.0,), (1e-1,), (1e-2, 1.0)
DIGITS = tuple(range(10))
N_COMPONENTS, QUICK_COMPONENTS = 512, 64
DIGIT_WIDTHS, DIGIT_C, DIGIT_COUPLINGS = (0.5, 1.0), (1e-2, 1e-1), (0.1, 10.0)
UNTUNED_WIDTH, UNTUNED_C, NOT_ONE = 0.5, (1.0, 3.0), (0, 2, 3, 4, 5, 6, 7, 8, 9)
CONVERGENCE_COUPLINGS = (0.01, 1.0, 100.0)
DECISION_GAMMAS, DECISION_SIZES = (1.0, 10.0), (10, 25, 50, 200)
DECISION_C = (1.0, 0.1, 0.01, 0.001)
SHARES = (0.125, 0.5)
ALIGNED_WIDTHS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
ALIGNED = ("mfeat-fou-kar", "mfeat-fac-pix", "mfeat-zer-mor")
SIGNIFICANCE_LEVEL = 0.05


def table2(dataset, quick, rows):
    """Yield the jobs of Table 2: accuracy by method, in halves and in folds.

    dataset: One of `TABLE2`; quick: Two repeats, small grids.
    """
    values = (QUICK_WIDTHS, QUICK_C, QUICK_COUPLINGS) if quick else (WIDTHS, C, COUPLINGS)
    readings = () if quick else ("halves-narrow", *READINGS.get(dataset, ()))
    for protocol in ("halves", "folds", *readings):
        for repeat in range(2 if quick else N_REPEATS):
            for method in METHODS if "-" not in protocol else (*OF_PAPER, "Majority"):
                function = partial(on_table, dataset, protocol, repeat, method, values)
                point = {"protocol": protocol}
                yield Job(dataset, method, point, repeat, measures_of(method), function)


def on_table(name, protocol, repeat, method, values, *, seed):
    """Tune and measure a method on a split of Table 2, see :func:`nystrom_methods.tuned`."""
    protocol, _, reading = protocol.partition("-")
    points = grid(method, *values)
    if reading == "narrow":
        points = points[::-1]
    elif reading:
        name = f"{name}-{reading}"
    parts = table_parts(name, protocol, repeat, N_REPEATS, seed)
    return tuned(parts, method, points, SHARE, seed)


def universes(dataset, quick, rows):
    """Yield the jobs of the universes of Table 2: accuracy without tuning, every choice of ours.

    quick: One half, two widths.
    """
    widths = UNIVERSE_WIDTHS[2:4] if quick else UNIVERSE_WIDTHS
    grids = SCALINGS, widths, UNIVERSE_C, UNIVERSE_SHARES
    name = dataset + UNIVERSE_DATA[dataset]
    for repeat in range(1 if quick else N_REPEATS):
        for values in product(*grids):
            point = dict(zip(("scaling", "width", "c", "share"), values, strict=True))
            for method in OF_PAPER if values[-1] == SHARE else ("MVNA", "NA"):
                if method in ("KMHKS", "SVM"):  # have no components
                    point = {k: v for k, v in point.items() if k != "share"}
                function = partial(on_universe, name, method, **point)
                measures = ("accuracy", "alignment")[: 1 + (method == "MVNA")]
                yield Job(name, method, point, repeat, measures, function)


def on_universe(name, method, scaling, width, c, share=SHARE, *, seed):
    """Measure a method on a half of Table 2 without tuning, see :func:`nystrom_studies.fixed`."""
    parts = table_parts(name, "halves", 0, 1, seed, scaling == "standard")
    point = {"width": width, "c": c, "coupling": 1.0}
    found = fixed(parts, method, point, max(2, int(share * len(parts.train))), seed)
    return {name: found[name] for name in ("accuracy", "alignment") if name in found}


def table3(dataset, quick, rows):
    """Yield the jobs of Table 3: errors by digit.

    quick: One repeat, two digits, 64 components, one point of each grid.
    """
    values = DIGIT_WIDTHS, DIGIT_C, DIGIT_COUPLINGS
    values = [v[:1] for v in values] if quick else values
    m = QUICK_COMPONENTS if quick else N_COMPONENTS
    for digit in DIGITS[:2] if quick else DIGITS:
        for method, n_repeats in ON_DIGITS.items():
            for repeat in range(1 if quick else n_repeats):
                function = partial(on_digit, dataset, digit, method, values, m)
                point = {"digit": digit}
                yield Job(dataset, method, point, repeat, measures_of(method), function)


def on_digit(name, digit, method, values, n_components, *, seed):
    """Tune and measure a method on a digit against the rest, see :func:`nystrom_methods.tuned`."""
    parts = digit_parts(name, digit)
    return tuned(parts, method, grid(method, *values), n_components, seed)


def untuned(dataset, quick, rows):
    """Yield the jobs of Table 3 with one point for all digits.

    quick: One repeat, two digits, 64 components, one value of c.
    """
    m = QUICK_COMPONENTS if quick else N_COMPONENTS
    for c in UNTUNED_C[: 1 if quick else None]:
        for digit in NOT_ONE[:2] if quick else NOT_ONE:
            for method in OF_PAPER:
                measures = ("errors", *ALIGNMENTS[: 2 * (method == "MVNA")])
                for repeat in range(1 if quick else ON_DIGITS[method]):
                    function = partial(on_digit_untuned, dataset, digit, method, c, m)
                    point = {"digit": digit, "c": c}
                    yield Job(dataset, method, point, repeat, measures, function)


def on_digit_untuned(name, digit, method, c, n_components, *, seed):
    """Measure a method without tuning, see :func:`nystrom_studies.on_digit_at`."""
    return on_digit_at(name, digit, method, _untuned(c), n_components, seed)[1]


def _untuned(c):
    return (("c", c), ("coupling", 1.0), ("width", UNTUNED_WIDTH))


def paired(dataset, quick, rows):
    """Yield the jobs of MVNA against the rivals of Table 3 on the same images.

    quick: No job: the parameters are those of the whole table; rows: Of the paper; no job while
    those of Table 3 are missing.
    """
    rows = rows[(rows["item"] == "table3") & rows["measure"].isin(CHOSEN)]
    if quick or rows.empty:
        return
    digits = [json.loads(text)["digit"] for text in rows["parameter"]]
    tuned = rows.assign(digit=digits).pivot(
        index=["method", "digit", "repeat"], columns="measure", values="value"
    )

    def points(method, repeat, c):
        if c:
            return [_untuned(c)] * len(NOT_ONE)
        chosen = [tuned.loc[method, digit, repeat].dropna() for digit in NOT_ONE]
        return [tuple(sorted(point.items())) for point in chosen]

    measures = ("difference", "std_error", "only_mvna", "only_rival")
    for rival in ("NA", "KMHKS"):
        for repeat in range(ON_DIGITS["MVNA"]):
            for c in (None, *UNTUNED_C):
                source = "table3_untuned" if c else "table3"
                sides = [
                    (method, points(method, own, c), derive_seed(source, dataset, own))
                    for method, own in (("MVNA", repeat), (rival, repeat % ON_DIGITS[rival]))
                ]
                function = partial(paired_errors, dataset, NOT_ONE, sides, N_COMPONENTS)
                point = {"chosen": f"c={c:g}" if c else "tuned"}
                yield Job(dataset, rival, point, repeat, measures, function)


def convergence(dataset, quick, rows):
    """Yield the jobs of the convergence: both solvers by coupling and weights of the views.

    quick: One repeat, two couplings.
    """
    measures = ("excess", "n_iter", "rises", "accuracy")
    measures += tuple(f"excess_{t}" for t in CHECKPOINTS)
    for repeat in range(1 if quick else N_REPEATS):
        for coupling in CONVERGENCE_COUPLINGS[: 2 if quick else None]:
            for mu in ("even", "uneven"):
                for solver in ("exact", "paper"):
                    function = partial(on_moons, dataset, solver, coupling, mu)
                    point = {"coupling": coupling, "mu": mu}
                    yield Job(dataset, solver, point, repeat, measures, function)


def decision(dataset, quick, rows):
    """Yield the jobs of the two decision functions by c, m and width of the kernel.

    quick: One repeat, two values of c and of m.
    """
    for repeat in range(1 if quick else N_REPEATS):
        for gamma in DECISION_GAMMAS:
            for m in DECISION_SIZES[::2] if quick else DECISION_SIZES:
                for c in DECISION_C[::2] if quick else DECISION_C:
                    for name in ("nystrom", "printed"):
                        point = {"kernel_gamma": gamma, "m": m, "c": c}
                        function = partial(decided, dataset, name, **point)
                        yield Job(dataset, name, point, repeat, ("accuracy",), function)


def alignment(dataset, quick, rows):
    """Yield the jobs of alignment and gain by width of the kernel and m/n.

    dataset: One of `TABLE2`, "moons", "digits", or "mfeat" for pairs of its views; quick: One
    repeat, two widths.
    """
    measures = (*ALIGNMENTS, "accuracy", "gain", "gain_double")
    for name in ALIGNED if dataset == "mfeat" else (dataset,):
        for repeat in range(1 if quick else N_REPEATS):
            for width in ALIGNED_WIDTHS[1::3] if quick else ALIGNED_WIDTHS:
                for share in SHARES:
                    function = partial(aligned, name, width, share)
                    point = {"width": width, "share": share}
                    yield Job(name, "MVNA", point, repeat, measures, function)


ITEMS = [
    Item("mvna_kmhks", "table2", "accuracy on small data sets", TABLE2, table2),
    Item("mvna_kmhks", "table3", "errors of a digit against the rest", ("optdigits",), table3),
    Item(
        "mvna_kmhks", "table2_universes", "accuracy on small data sets, every choice left open",
        tuple(UNIVERSE_DATA), universes,
    ),
    Item("mvna_kmhks", "table3_untuned", "Table 3 without tuning", ("optdigits",), untuned),
    Item(
        "mvna_kmhks", "table3_paired", "MVNA against its rivals on the same images",
        ("optdigits",), paired, needs=("table3",),
    ),
    Item("mvna_kmhks", "convergence", "objective of the two solvers", DRAWN, convergence),
    Item("mvna_kmhks", "decision", "accuracy of the two decision functions", DRAWN, decision),
    Item(
        "mvna_kmhks", "alignment", "gain over one approximation by alignment of the two",
        (*TABLE2, *DRAWN, "digits", "mfeat"), alignment,
    ),
]  # fmt: skip

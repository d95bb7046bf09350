"""What part V's experiments measure beside the tables; :mod:`.mvna_kmhks` has the protocol."""

import warnings
from functools import lru_cache

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..mvna_kmhks import MVNAKMHKS
from .engine import derive_seed
from .nystrom_methods import alignments, build, fitted, n_errors, wrong
from .nystrom_parts import digit_parts, drawn_parts, mean_distances

N_VIEWS = 2
MOONS_C, MOONS_SHARE, MOONS_GAMMA = 0.1, 0.25, 1.0
UNEVEN = (0.9, 0.1)
CHECKPOINTS = (10, 100, 1000, 10_000)
ALIGNED_C = 0.1


def on_moons(name, solver, coupling, mu, *, seed):
    """Follow the objective of a solver, and compare it with the minimum."""
    parts = drawn_parts(name, seed)
    train = parts.X[parts.train], parts.y[parts.train]

    def fit(**options):
        model = MVNAKMHKS(
            N_VIEWS, MOONS_SHARE, gamma=MOONS_GAMMA, c=MOONS_C, coupling=coupling,
            view_weights=UNEVEN if mu == "uneven" else None,
            random_state=derive_seed(seed, "components"), **options,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # wanted: max_iter is the end
            return model.fit(*train)

    least = fit(tol=1e-12, max_iter=20_000).objective_curve_[-1]
    stopped = fit(solver=solver)
    curve = fit(solver=solver, tol=0.0, max_iter=CHECKPOINTS[-1]).objective_curve_
    at = {f"excess_{t}": curve[min(t, len(curve) - 1)] / least - 1.0 for t in CHECKPOINTS}
    measures = at | {
        "excess": stopped.objective_curve_[-1] / least - 1.0,
        "n_iter": stopped.n_iter_,
        "rises": max((np.diff(curve) / curve[:-1]).max(), 0.0),
        "accuracy": stopped.score(parts.X[parts.test], parts.y[parts.test]),
    }
    return {measure: float(value) for measure, value in measures.items()}


def decided(name, decision, kernel_gamma, m, c, *, seed):
    """Return the accuracy of a decision function."""
    parts = drawn_parts(name, seed)
    model = MVNAKMHKS(
        N_VIEWS, m, gamma=kernel_gamma, c=c, decision=decision,
        random_state=derive_seed(seed, "components"),
    )  # fmt: skip
    model, _ = fitted(model, parts.X[parts.train], parts.y[parts.train])
    return {"accuracy": model.score(parts.X[parts.test], parts.y[parts.test])}


def aligned(name, width, share, *, seed):
    """Measure the alignment of the two approximations, and the gain over one of them."""
    parts = drawn_parts(name, seed)
    X, y = parts.X[parts.train], parts.y[parts.train]
    distances = mean_distances(parts.X, parts.train)
    point = {"width": width, "c": ALIGNED_C, "coupling": 1.0}

    def trained(method, share):
        model = build(method, distances, point, seed, share, multi_class="ovr")
        model, _ = fitted(model, X, y)
        wrong = n_errors(model, parts.X[parts.test], parts.y[parts.test])
        return model, 1.0 - wrong / len(parts.test)

    model, accuracy = trained("MVNA", share)
    double = N_VIEWS * share / parts.X.n_views
    return alignments(model, X) | {
        "accuracy": accuracy,
        "gain": accuracy - trained("NA", share)[1],
        "gain_double": accuracy - trained("NA", double)[1],
    }


def fixed(parts, method, point, n_components, seed):
    """Train with given parameters, and test once."""
    model, errors = _trained(parts, method, point, n_components, seed)
    measures = {"accuracy": 1.0 - errors.mean(), "errors": float(errors.sum())}
    return measures | (alignments(model, parts.X[parts.train]) if method == "MVNA" else {})


@lru_cache(maxsize=256)
def on_digit_at(name, digit, method, point, n_components, seed):
    """Train on a digit against the rest with given parameters, and test once; kept in memory.

    point: Items of the parameter point.
    """
    parts = digit_parts(name, digit)
    model, errors = _trained(parts, method, dict(point), n_components, seed)
    found = alignments(model, parts.X[parts.train]) if method == "MVNA" else {}
    return errors, {"errors": float(errors.sum())} | found


def _trained(parts, method, point, n_components, seed):
    """A fitted classifier, and which samples of the test part it gets wrong."""
    X, y = parts.X, parts.y
    model = build(method, mean_distances(X, parts.train), point, seed, n_components)
    model, _ = fitted(model, X[parts.train], y[parts.train])
    return model, wrong(model, X[parts.test], y[parts.test])


def paired_errors(name, digits, sides, n_components, *, seed):
    """Compare the errors of MVNA and a rival on the same test images, over all digits together.

    sides: Of MVNA and of the rival: method, for each digit the items of its parameter point, and
    the seed of the components.
    """
    own, other = (
        np.column_stack([
            on_digit_at(name, digit, method, point, n_components, drawn)[0]
            for digit, point in zip(digits, points, strict=True)
        ])
        for method, points, drawn in sides
    )  # fmt: skip
    by_image = own.sum(axis=1) - other.sum(axis=1)
    measures = {
        "difference": by_image.sum(),
        "std_error": np.sqrt(len(by_image) * by_image.var(ddof=1)),
        "only_mvna": (own > other).sum(),
        "only_rival": (other > own).sum(),
    }
    return {measure: float(value) for measure, value in measures.items()}

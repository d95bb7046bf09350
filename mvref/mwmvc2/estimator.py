"""MwMvC2: a weighted majority vote per view, and a weighted majority vote over the views.

A. Goyal, E. Morvant, M.-R. Amini, "Multiview Learning of Weighted Majority Vote by Bregman
Divergence Minimization", IDA 2018. Chapters: part II of the book.

Problem   min over (rho, Pi) of  a/m sum_i ln(1 + exp(-y_i B(x_i))),   a = 1/ln 2      (Eq. 2)
          B(x) = sum_v rho_v sum_j pi_vj h_vj(x^v)                                     (Eq. 1)
          The sum of logarithms is D_F(0 || q), the Bregman divergence of the negative binary
          entropy F, with q_i = 1/(1 + e^{z_i}) and z_i = y_i B(x_i)                 (Eq. 6)
          Weighted samples: sum_i becomes sum_i w_i, q_i becomes w_i q_i, and m sum_i w_i.

Symbols   paper            code             shape
          m, V, n_v                         numbers of samples, views, voters of view v
          M_v = (y_i h_vj) Ms[v]            (m, n_v), -1 or +1; a row of 0: the view is missing
          rho, Pi          rho, pi          (V,) on the simplex; list of V arrays (n_v,)
          M_v pi_v         G[:, v]          (m, V)
          z, q             z, q             (m,)
                           w                (m,), weights of the samples, 1 in the paper
          W+, W-           (Q +- r) / 2     r = M_v'q and Q = sum of q over the samples with view v
          delta_vj         deltas           1/2 ln(W+/W-) = arctanh(r/Q)
          D_F(0 || q)      loss_curve_      scalar, one per iteration

Algorithm (paper's Algorithm 1; the function that does each step)
          fit the voters: ``fit_pool``;  then, in ``weights``, the loop:
          ``learn_weights``;  2-9 reweigh the voters: ``reweigh``;  10 reweigh the views: ``vertex``
          as printed, ``mixture`` in ours.

Departures of ``update="monotone"``, each explained in the chapter
          * the step along delta is at least 1/N of the printed one, N = max_i sum_v rho_v n_v: the
            bound that the paper cites needs a row sum of at most one (erratum B2);
          * rho minimises the loss itself, or a quadratic that lies above it, and not Eq. (8), a
            linear program whose solution is one view (B3, B4).
          ``update="paper"`` has neither and may raise the loss; it does T updates, the literal
          loop one less.
Common to both: |delta| is limited for voters without errors, whose W- is 0; with many samples the
trees are not grown one by one but cut from a few full ones, see ``GROWN``.
"""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from tqdm import tqdm

from ..core.base import MultiViewClassifier, one_against_rest, one_or_array, one_or_list
from ..core.input import (
    BaseEstimator,
    ClassWeight,
    Literal,
    RandomState,
    Sequence,
    ViewColumns,
    Weighted,
    check_choice,
)
from ..core.per_view import naming
from ..core.ties import TIES, break_ties, draw_keys
from ..core.trees import cut
from ..core.voters import cast_votes, check_classifier, check_trainable, fit_weighted, seeded_clone
from .weights import check_options, learn_weights

WEIGHT_OPTIONS = ("max_iter", "update", "step", "rho_step", "smoothing")
POOLS = {"trees": "best", "random_trees": "random"}  # name -> splitter of the trees
# Above SEPARATE samples, "trees" are cut from GROWN full trees in turn. Full trees differ
# where splits tie; voters cut from a single one would repeat each other there, and vote worse.
SEPARATE, GROWN = 1000, 3


def fit_pool(voters, view, y, rng, weights=None, name=None):
    """Return the fitted voters of one view (the paper's section 4.2).

    view (m, n_features); y, weights (m,); name: of the view, for error messages.
    """
    if (y == y[0]).all():  # one-vs-rest, in a view that never shows the class
        return [DummyClassifier(strategy="most_frequent").fit(view, y)]
    if not isinstance(voters, str):
        return [_fit_voter(seeded_clone(voter, rng), view, y, weights, name) for voter in voters]
    splitter, seed = POOLS[voters], int(rng.randint(2**31))
    grown = [DecisionTreeClassifier(splitter=splitter, random_state=seed).fit(view, y, weights)]
    depths = range(1, max(1, grown[0].get_depth() - 2) + 1)
    seeds = [seed] * len(depths)
    if voters == "random_trees":
        seeds = rng.randint(2**31, size=len(depths))
    elif len(y) > SEPARATE:
        for s in rng.randint(2**31, size=GROWN - 1):
            grown.append(clone(grown[0]).set_params(random_state=int(s)).fit(view, y, weights))
        try:
            return [cut(grown[k % GROWN], k) for k in depths]
        except (AttributeError, LookupError, TypeError, ValueError):  # internals we do not know
            seeds = [grown[k % GROWN].random_state for k in depths]
    trees = [
        DecisionTreeClassifier(max_depth=k, splitter=splitter, random_state=int(s))
        for k, s in zip(depths, seeds, strict=True)
    ]
    return [tree.fit(view, y, weights) for tree in trees]


def _fit_voter(voter, view, y, weights, name):
    with naming(name, voter):
        return fit_weighted(voter, view, y, weights)


class MwMvC2(Weighted, MultiViewClassifier):
    """Weighted majority vote of weak classifiers in each view, and of the views (MwMvC2).

    Fits weak classifiers on every view, then learns a weight for each classifier together with a
    weight for each view; several classes are handled one-vs-rest.

    Parameters
    ----------
    voters : {"trees", "random_trees"} or list of scikit-learn classifiers, default="trees"
        The voters of every view. "trees": decision trees of depth 1 to d - 2, at least one, where d
        is the depth of the full tree (the paper's); with more than 1000 samples they are cut from
        three full trees. "random_trees": the same with random splits and a seed for each depth,
        grown separately. A list is cloned for every view; with weights of samples or classes, each
        of its voters must accept ``sample_weight``.
    max_iter : int, default=2
        T, number of updates; 0 keeps the unweighted vote. The paper takes 2. If the voters together
        separate the classes, the loss has no minimum, and early stopping regularises.
    update : {"monotone", "paper"}, default="monotone"
        "monotone": the loss never increases. It converges to its infimum if the weights of the
        views stay away from 0 or if q converges (proved in the chapter), and did so on all tables
        that we tried. "paper": Algorithm 1 as printed, which may increase the loss and ends with
        the vote of a single view.
    step : {"backtrack", "collins"}, default="backtrack"
        Step length of "monotone": "backtrack" halves the printed step until the loss falls as much
        as the bound promises; "collins" takes the shortest, for which the bound is proved.
    rho_step : {"qp", "exact"}, default="qp"
        View weights of "monotone": by one quadratic program, or by minimising the loss.
    smoothing : float or "auto", default="auto"
        Relative weight eps that is added to W+ and W- of a voter without errors, so that no
        ``|delta|`` exceeds 1/2 ln((1 + eps)/eps). "auto" is 1/(2m), where m is the sum of the
        weights, or the number of samples if this is larger.
    ties : {"random", "smallest", "largest"}, default="random"
        Class that wins a tie: random for each sample ("random"), the smallest or the largest label.
        Ties are broken by a hash of the values of the sample.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``, for the voters and for the loss.
        Deep trees that separate the training samples leave no loss to weight: if a class is rare, a
        list of shallow trees or linear voters gains more from "balanced".
    n_jobs : int or None; number of classes fitted in parallel (joblib)
    verbose : int, default=0; 1 shows a progress bar over the classes
    views : sequence or mapping, optional; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None; seed of the voters and of random ties

    Attributes
    ----------
    rho_, rho_path_ : arrays, shapes (V,) and (T + 1, V)
        Weights of the views, which sum to 1; and their values at the start and after every update.
    pi_, voters_ : lists of V arrays (n_v,), and of V lists of fitted classifiers
        Weights of the voters; and the voters, which predict -1 and +1 (the second class).
    loss_curve_, decrease_bound_ : arrays, shapes (T + 1,) and (T,)
        D_F(0 || q), which times 1 / (m ln 2) is Eq. (2), m the sum of the weights; and the
        guaranteed decrease of an update, see :class:`~mvref.mwmvc2.TwoLevelWeights`.
    n_iter_, tie_keys_ : int, T; and array, keys of random tie-breaking
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    mvref.rivals.MVMV, mvref.rivals.MVWAB, mvref.rivals.RBoostSH : Other votes of views.

    Notes
    -----
    With more than two classes, ``pi_`` and ``voters_`` are lists of such lists, one per class, and
    the arrays have one more axis in front. A missing view casts no vote, in training and in
    prediction. A sample without any view raises an error.

    References
    ----------
    Goyal, Morvant and Amini, IDA 2018. Collins, Schapire and Singer, Machine Learning 48, 2002.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from mvref import MwMvC2
    >>> from mvref.datasets import load_iris_views
    >>> data = load_iris_views()
    >>> model = MwMvC2(random_state=0)
    >>> bool(cross_val_score(model, data.X, data.y).mean() > 0.9)
    True
    """

    _learnt = "rho_"

    def __init__(
        self,
        voters: Literal["trees", "random_trees"] | Sequence[BaseEstimator] = "trees",
        *,
        max_iter: int = 2,
        update: Literal["monotone", "paper"] = "monotone",
        step: Literal["backtrack", "collins"] = "backtrack",
        rho_step: Literal["qp", "exact"] = "qp",
        smoothing: float | Literal["auto"] = "auto",
        ties: Literal["random", "smallest", "largest"] = "random",
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.voters, self.ties, self.max_iter = voters, ties, max_iter
        self.update, self.step, self.rho_step, self.smoothing = update, step, rho_step, smoothing
        self.class_weight, self.n_jobs, self.verbose = class_weight, n_jobs, verbose
        self.views, self.random_state = views, random_state

    def _fit(self, X, codes, weights):
        check_trainable(X, codes)
        rng = check_random_state(self.random_state)
        self.tie_keys_ = draw_keys(X.shape[1], rng)
        signs = one_against_rest(codes, len(self.classes_)).astype(int)  # labels for the voters
        seeds = rng.randint(2**31, size=len(signs))
        fits = Parallel(self.n_jobs, return_as="generator")(
            delayed(self._fit_one)(X, y_k, weights, seed)
            for y_k, seed in zip(signs, seeds, strict=True)
        )
        fits = list(tqdm(fits, "classes", len(signs), disable=not self.verbose))
        self._set_fitted(fits)
        self.n_iter_ = self.max_iter

    def _fit_one(self, X, y, weights, seed):
        """Fit voters and weights of one class against the rest, y in {-1, +1}."""
        rng = np.random.RandomState(seed)
        pools, Ms = [], []
        for name, view, seen in zip(X.names, X.views, X.observed.T, strict=True):
            rows = np.flatnonzero(seen)
            w = None if weights is None else weights[rows]
            pools.append(fit_pool(self.voters, view[rows], y[rows], rng, w, name))
            Ms.append(y[:, None] * cast_votes(pools[-1], view, seen))
        options = {name: getattr(self, name) for name in WEIGHT_OPTIONS}
        return pools, learn_weights(Ms, sample_weight=weights, **options)

    def _set_fitted(self, fits):
        pools, weights = zip(*fits, strict=True)
        self.voters_ = one_or_list(pools)
        self.pi_ = one_or_list([w.pi for w in weights])
        self.rho_ = one_or_array([w.rho for w in weights])
        self.loss_curve_ = one_or_array([w.loss_curve for w in weights])
        self.rho_path_ = one_or_array([w.rho_path for w in weights])
        self.decrease_bound_ = one_or_array([w.decrease_bound for w in weights])

    def _scores(self, X):
        """B(x), Eq. (1); ties are moved apart by less than 1e-9 of the sum of all weights."""
        learnt = self.voters_, self.pi_, self.rho_
        machines = [learnt] if len(self.classes_) == 2 else list(zip(*learnt, strict=True))
        scores = np.column_stack([_vote(X, *machine) for machine in machines])
        # Rounding may hide a tie: scores are equal if they differ by 1e-9 of all weights.
        weight = sum(rho @ [np.abs(p).sum() for p in pi] for _, pi, rho in machines)
        scores = scores[:, 0] if len(machines) == 1 else scores
        return break_ties(scores, X, self.ties, self.tie_keys_, width=1e-9 * max(weight, 1e-9))

    def _check_parameters(self):
        if isinstance(self.voters, str):
            check_choice(self.voters, "voters", list(POOLS))
        elif not isinstance(self.voters, list | tuple) or len(self.voters) == 0:
            raise ValueError(
                f"voters must be one of {list(POOLS)} or a list of scikit-learn classifiers, got "
                f"{self.voters!r}."
            )
        else:
            for j, voter in enumerate(self.voters):
                check_classifier(voter, f"voters[{j}]")
        check_options(**{name: getattr(self, name) for name in WEIGHT_OPTIONS})
        check_choice(self.ties, "ties", TIES)


def _vote(X, pools, pi, rho):
    """Return B(x) of one class against the rest, shape (n,)."""
    scores = np.zeros(X.n_samples)
    for view, seen, pool, weights, r in zip(X.views, X.observed.T, pools, pi, rho, strict=True):
        if r > 0:  # otherwise the view's voters are not needed
            scores += r * (cast_votes(pool, view, seen) @ weights)
    return scores

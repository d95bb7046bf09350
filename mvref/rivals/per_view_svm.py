"""One kernel SVM per view and a majority vote: "SVMs" in the tables of MVL-SVM.

Problem   for every view v, one-vs-rest: the soft-margin SVM with kernel k_v.
Weights   of the samples multiply C.
Decision  every view casts a vote for its class; the class with most votes wins.
Missing   a sample trains the classifiers of the views it has, and gets votes from those only.
"""

import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC
from sklearn.utils import check_random_state

from ..core.base import MultiViewClassifier
from ..core.input import (
    ClassWeight,
    Kernel,
    KernelWidth,
    Literal,
    RandomState,
    Sequence,
    ViewColumns,
    Weighted,
    check_choice,
    check_number,
    warn_caller,
)
from ..core.kernels import fit_similarities
from ..core.voters import check_trainable, difference_if_two, part_of


class PerViewSVM(Weighted, MultiViewClassifier):
    """Kernel SVM per view, combined by majority vote.

    Parameters
    ----------
    C : float, default=1.0; weight of the summed hinge loss (scikit-learn's unit)
    kernel : {"rbf", "linear", "precomputed", "gram"}, callable, or one per view, default="rbf"
        Similarity to the training samples; :class:`~mvref.LandmarkProjection` describes each.
    gamma : float, "mean", None, or one per view, default=None
        Kernel width. None: 1/n_v for "rbf", "mean" for "precomputed".
    ties : {"score", "smallest", "random"}, default="score"
        Winner among classes with equally many votes: the larger sum of decision values, the
        smallest label (the authors' code), or the last class in an order that is drawn in ``fit``.
    tol : float, default=1e-3; tolerance of the SVM solver
    max_iter : int, default=10000000; maximum number of steps of the SVM solver
    class_weight : dict, "balanced" or None, default=None; multiplies ``sample_weight``
    n_jobs : int or None, default=None; number of views fitted in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of ``ties="random"``

    Attributes
    ----------
    machines_ : list of V fitted one-vs-rest SVMs
    similarities_ : list of V kernels to the training samples that have the view
    tie_order_ : int array, shape (n_classes,)
    n_iter_ : int, number of steps, the maximum over the SVMs
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    SVM2K : Two SVMs with an agreement penalty.
    CoLabeling : The mean of the scores instead of a vote.

    Notes
    -----
    Provenance: full text. Zantedeschi, Emonet and Sebban (2018) describe it, except for ties, and
    we read their program.

    It is ``mvref.PerViewClassifier(OneVsRestClassifier(SVC(gamma="auto")), combine="vote")``, where
    the smallest label wins ties. With ``gamma="mean"`` every sample counts once in the mean of
    the distances, whatever its weight.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import PerViewSVM
    >>> data = load_iris_views()
    >>> bool(PerViewSVM().fit(data.X, data.y).score(data.X, data.y) > 0.9)
    True
    """

    _learnt = "tie_order_"

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Kernel | Sequence[Kernel] = "rbf",
        gamma: KernelWidth | Sequence[KernelWidth | None] | None = None,
        ties: Literal["score", "smallest", "random"] = "score",
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.C, self.kernel, self.gamma = C, kernel, gamma
        self.ties, self.tol, self.max_iter = ties, tol, max_iter
        self.class_weight, self.n_jobs = class_weight, n_jobs
        self.views, self.random_state = views, random_state

    def _fit(self, X, codes, weights):
        """Fit one SVM per view on the samples that have the view."""
        check_trainable(X, codes)
        rows = [np.flatnonzero(seen) for seen in X.observed.T]
        self.similarities_ = fit_similarities(self.kernel, self.gamma, X, rows, rows)
        # a seed changes nothing here, but without one SVC draws from numpy's global generator
        options = {"tol": self.tol, "max_iter": self.max_iter, "random_state": 0}
        svm = SVC(C=self.C, kernel="precomputed", **options)
        of_views = zip(self.similarities_, X.views, rows, strict=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # one warning below
            self.machines_ = Parallel(self.n_jobs)(
                delayed(_fit_machine)(svm, mu(view[r]), codes[r], part_of(weights, r))
                for mu, view, r in of_views
            )
        svms = [svc for machine in self.machines_ for svc in machine.estimators_]
        self.n_iter_ = int(max(svc.n_iter_.max() for svc in svms))
        if any(svc.fit_status_ for svc in svms):
            warn_caller(
                f"PerViewSVM stopped after max_iter={self.max_iter} steps of an SVM before it "
                f"reached tol={self.tol:g}: raise one of them, scale the views, or lower C."
            )
        # one order of the classes: a draw per sample would depend on the other samples
        self.tie_order_ = check_random_state(self.random_state).permutation(len(self.classes_))

    def _scores(self, X):
        """Count the votes; ties are broken by less than one vote."""
        votes = np.zeros((X.n_samples, len(self.classes_)))
        scores = np.zeros_like(votes)  # sums of decision values
        of_views = zip(self.machines_, self.similarities_, X.views, X.observed.T, strict=True)
        for machine, mu, view, seen in of_views:
            rows = np.flatnonzero(seen)
            if len(rows) == 0:
                continue
            values = machine.decision_function(mu(view[rows]))
            if values.ndim == 1:  # two classes
                values = np.column_stack([-values, values])
            known = machine.classes_  # a view may lack some of the classes
            votes[rows, known[values.argmax(axis=1)]] += 1
            scores[np.ix_(rows, known)] += values
        if self.ties == "score":
            return difference_if_two(votes + np.arctan(scores) / (2 * np.pi))  # in (-1/4, 1/4)
        order = self.tie_order_ if self.ties == "random" else -np.arange(len(self.classes_))
        return difference_if_two(votes + order / (2 * len(self.classes_)))

    def _check_parameters(self):
        check_number(self.C, "C", low=0, low_open=True)
        check_number(self.tol, "tol", low=0, low_open=True)
        check_number(self.max_iter, "max_iter", low=1, high=2**31 - 1, integer=True)
        check_choice(self.ties, "ties", ("score", "smallest", "random"))


def _fit_machine(svm, K, codes, weights):
    """Fit the one-vs-rest SVMs of one view: K (n, n); codes, weights (n,)."""
    if weights is None:
        return OneVsRestClassifier(svm).fit(K, codes)
    with config_context(enable_metadata_routing=True):  # the only way to pass weights
        machine = OneVsRestClassifier(clone(svm).set_fit_request(sample_weight=True))
        machine.fit(K, codes, sample_weight=weights)
    for routed in (machine.estimator, *machine.estimators_):
        del routed._metadata_request  # which skops cannot write
    return machine

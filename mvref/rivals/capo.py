"""CAPO: adapt existing classifiers to a performance measure.

N. Li, I. W. Tsang, Z.-H. Zhou, "Efficient optimization of performance measures by classifier
adaptation", IEEE TPAMI 2013; compared with MVPO in Figure 1 of Wang, Tsang and Gao (AAAI 2016).

Problem   two steps: train auxiliary classifiers f^1, ..., f^q for the labels, by any method;
          then learn  f(x) = w'x + sum_a b_a f^a(x)  for the measure,
          min over w, b, xi of  1/2 |w|^2 + B/2 |b|^2 + C2 xi  under the constraints of SVM^perf

Algorithm With the columns [x ; f^1(x) / sqrt(B), ..., f^q(x) / sqrt(B)] this is SVM^perf
          (:mod:`mvref.rivals.svm_perf`), with weights w and sqrt(B) b in ``coef_``; the f^a are in
          ``auxiliaries_``.

Our interpretations
          * The paper's classifiers are a core vector machine, an RBF network and C4.5. Ours, if
            the user names none, are the closest ones in scikit-learn: an SVM with RBF kernel,
            nearest neighbours (local, like the units of that network), a decision tree.
          * A tree makes no error on its own training samples, and b would rely on it alone. The
            columns f^a of the training samples are therefore out-of-fold outputs; for new samples
            they are outputs of the classifiers trained on all samples.
          * The output of a classifier for a class is its score, decision function or probability,
            minus the best of the other classes. All classes share the classifiers, as users have
            them; with ten classes this is five times as fast as separate classifiers.
"""

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from ..core.input import (
    ArrayLike,
    BaseEstimator,
    Literal,
    RandomState,
    Self,
    Sequence,
    Splitter,
    ViewColumns,
    Views,
    check_number,
    view_features,
)
from ..core.voters import check_classifier, check_folds, class_scores, folds_of, seeded_clone
from .common import side_by_side
from .svm_perf import SVMPerf

AUXILIARIES = SVC(), KNeighborsClassifier(), DecisionTreeClassifier()


class CAPO(SVMPerf):
    """Adaptation of existing classifiers to a performance measure, on concatenated features.

    Parameters
    ----------
    measure : {"f1", "prbep", "auroc", "error"}, default="f1"; optimised by a structured hinge
    auxiliaries : list of scikit-learn classifiers, default=None; an RBF SVM, 5 neighbours, a tree
    B : float, default=1.0
        Weight of |b|^2; a small value relies more on the auxiliary classifiers than on the
        features.
    C2 : float, default=100.0; weight of the loss, in the unit of :class:`~mvref.MVPO`
    cv : int or splitter, default=5
        Folds for the out-of-fold outputs of the auxiliary classifiers: a number of stratified,
        shuffled folds, which respect the groups given to ``fit``; or a splitter that holds out
        every sample once.
    fit_intercept, intercept_scaling : bool, default=True, and float, default=1.0
        Whether to append a constant feature, and its value; its weight is penalised like the
        others.
    tol : float, default=1e-3; tolerance of the loss: at the end, the duality gap is below C2 tol
    max_iter : int, default=1000; maximum number of iterations, each of which adds a cut
    n_jobs : int or None, default=None; classifiers and classes trained in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of folds and classifiers

    Attributes
    ----------
    auxiliaries_ : list of q classifiers, fitted on all samples with labels 0 to n_classes - 1
    coef_ : array (d + q,), or (n_classes, d + q), weights of features and, last, of f^a / sqrt(B)
    intercept_ : float, or array (n_classes,)
        For "prbep" and "auroc", the threshold predicts as many positives as the training set has.
    n_iter_ : int, the maximum over the classes
    dual_gap_ : float, or array (n_classes,), primal minus dual value
    primal_curve_, dual_curve_ : arrays (n_iter,), or lists of them
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    SVMPerf : The same without auxiliary classifiers.

    Notes
    -----
    Provenance: abstract. A reconstruction: the abstract describes the two steps and states that the
    second is like SVM^perf; the formula is from memory of the literature.

    Missing views are replaced by zeros, for the auxiliary classifiers, too. Every class needs two
    samples. Sample weights are not supported: the measures, except "error", are not sums over
    samples; see :class:`SVMPerf`.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import CAPO
    >>> data = load_iris_views()
    >>> model = CAPO("auroc", random_state=0).fit(data.X, data.y == 2)
    >>> model.coef_.shape  # 4 features and 3 classifiers
    (7,)
    """

    def __init__(
        self,
        measure: Literal["f1", "prbep", "auroc", "error"] = "f1",
        *,
        auxiliaries: Sequence[BaseEstimator] | None = None,
        B: float = 1.0,
        C2: float = 100.0,
        cv: int | Splitter = 5,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.measure, self.auxiliaries, self.B = measure, auxiliaries, B
        self.C2, self.cv, self.tol = C2, cv, tol
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.max_iter, self.n_jobs = max_iter, n_jobs
        self.views, self.random_state = views, random_state

    __metadata_request__fit = {"groups": True}

    def fit(self, X: Views, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Train the auxiliary classifiers and the classifier that adapts them.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples
        y : array-like of n labels of any type
        groups : array-like of n labels, default=None
            Samples of a group, such as the visits of a patient, are kept in the same fold.

        Returns
        -------
        self : CAPO
        """
        return self._check_and_fit(X, y, groups=groups)

    def _check_parameters(self):
        super()._check_parameters()
        check_number(self.B, "B", low=0, low_open=True)
        check_folds(self.cv)
        given = AUXILIARIES if self.auxiliaries is None else self.auxiliaries
        if not isinstance(given, list | tuple) or not len(given):
            told = "auxiliaries must be a list of scikit-learn classifiers"
            raise ValueError(f"{told}, got {given!r}.")
        for a, classifier in enumerate(given):
            check_classifier(classifier, f"auxiliaries[{a}]")

    def _training_tables(self, X, signs, groups=None):
        """Append the outputs of classifiers that are trained on the other folds to the columns."""
        columns, constant = side_by_side(view_features(X, 0.0)), self._constant(X.n_samples)
        self._sparse = sparse.issparse(columns)
        codes = (signs[0] > 0).astype(int) if len(signs) == 1 else signs.argmax(axis=0)
        counts = np.bincount(codes, minlength=len(self.classes_))
        if counts.min() < 2:
            raise ValueError(
                "CAPO needs two samples of every class, because its auxiliary classifiers are "
                f"cross-validated; y has one of class {self.classes_.tolist()[counts.argmin()]!r}."
            )
        rng = check_random_state(self.random_state)
        given = AUXILIARIES if self.auxiliaries is None else self.auxiliaries
        classifiers = [seeded_clone(classifier, rng) for classifier in given]
        folds = folds_of(self.cv, codes, rng, groups).test_fold
        parallel, K = Parallel(self.n_jobs), len(counts)
        outputs = parallel(delayed(_out_of_fold)(f, columns, codes, folds, K) for f in classifiers)
        self.auxiliaries_ = parallel(delayed(f.fit)(columns, codes) for f in classifiers)
        return [side_by_side([table, *constant]) for table in self._adapted(columns, outputs)]

    def _tables(self, columns):
        if sparse.issparse(columns) and not self._sparse:  # rejected by an SVC fitted on dense rows
            columns = columns.toarray()
        K = len(self.classes_)
        return self._adapted(columns, [_margins(f, columns, K) for f in self.auxiliaries_])

    def _adapted(self, columns, outputs):
        """Yield [x ; f(x) / sqrt(B)] of every problem; each of them copies all columns."""
        F = np.array(outputs) / np.sqrt(self.B)  # (q, n, number of classes)
        problems = range(F.shape[2]) if F.shape[2] > 2 else [1]
        return (side_by_side([columns, F[:, :, k].T]) for k in problems)


def _margins(classifier, columns, n_classes):
    """Return the score of every class minus the best score of the others."""
    scores = class_scores(classifier, columns, n_classes)
    second, first = np.sort(scores, axis=1)[:, -2:].T[:, :, None]
    return scores - np.where(scores == first, second, first)


def _out_of_fold(classifier, columns, codes, folds, n_classes):
    """Return the outputs for every sample of a classifier trained on the other folds."""
    outputs = np.empty((len(codes), n_classes))
    for fold in np.unique(folds):
        test = folds == fold
        own = clone(classifier).fit(columns[~test], codes[~test])
        outputs[test] = _margins(own, columns[test], n_classes)
    return outputs

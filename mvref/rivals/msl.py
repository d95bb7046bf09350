"""MSL: a subspace that two views share, learnt as a convex problem, and a linear SVM in it.

M. White, Y. Yu, X. Zhang, D. Schuurmans, "Convex multi-view subspace learning", NIPS 2012; compared
with MVPO in Figure 2 of Wang, Tsang and Gao (AAAI 2016).

Problem   min over U, H of  1/2 |U H - X|^2 + alpha sum_j |row j of H|,  |a_j| <= beta_1 and
          |b_j| <= beta_2 for the columns [a_j ; b_j] of U, of any number
        = min over Z of  1/2 |Z - X|^2 + alpha Omega(Z),
          Omega(Z) = max over theta in [0, 1] of the trace norm of E_theta^-1 Z,
          E_theta = diag(beta_1 theta^(-1/2) I, beta_2 (1 - theta)^(-1/2) I)
          With weights w_i of the samples, X has columns w_i^(1/2) x_i, and equals a table with w_i
          copies of x_i up to a rotation of the samples, which changes neither Omega nor the norm.

Symbols   here       code             meaning
          X          two views        samples in columns in :mod:`mvref.rivals.subspace`
          Z = U H    ``Subspace``     the table without its noise
          a_j, b_j   ``components_``  what direction j of the subspace looks like in a view
          H          ``factor_``      (n, t) here, samples in rows
          alpha      ``alpha_``       ``alpha`` times the dual norm of X: 1 would give Z = 0

Algorithm The minimum over Z is concave in theta: a search in one dimension, by the sign of the
          derivative. For one theta, proximal steps of the trace norm of W = E_theta^-1 Z,
          accelerated. The bounds from both sides give a duality gap. The singular vectors of W,
          times E_theta, are U. A new sample has  h = argmin 1/2 |x - U h|^2 + r/2 |h|^2, r small.
          Then a linear SVM on h; the labels are not used before.

Our interpretations
          * The paper has two views. Of more, we take the pair whose SVM is most accurate in
            cross-validation on the training samples; the subspaces are learnt once, without labels.
          * H is shrunk by alpha, the h of a new sample is not. The SVM is therefore trained on h
            of the training samples, not on H, divided by its root mean square norm: C means the
            same for every alpha. r is ``ridge`` times the squared spectral norm of U.
          * The subspace is learnt from the training samples that have both views.
          * The norm of U's columns is held in the sum over the columns that theta weighs, not in
            each: Z is the optimum, and any factor of it spans the same space.
"""

from itertools import combinations

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.base import MultiViewClassifier
from ..core.input import (
    ClassWeight,
    Literal,
    RandomState,
    Sequence,
    Splitter,
    Splitting,
    ViewColumns,
    Views,
    check_choice,
    check_number,
    validate_views,
    warn_caller,
    warn_if_few_complete,
)
from ..core.kernels import one_per_view
from ..core.linear_svm import LOSSES, fit_linear_svm
from ..core.voters import check_folds, folds_of
from .subspace import dual_norm, learn_subspace


class MSL(Splitting, MultiViewClassifier):
    """Linear SVM in a convex subspace that two views share (MSL).

    Parameters
    ----------
    alpha : float, default=0.1; weight of the norm, in (0, 1): at 1, Z would be 0
    C : float, default=10.0; weight of the summed loss of the SVM
    beta : float, or list of one per view, default=1.0; bounds of U's columns; only ratios matter
    ridge : float, default=1e-3; weight of |h|^2 of new samples, in squared spectral norms of U
    loss : {"hinge", "squared_hinge"}, default="hinge"
    intercept_scaling : float, default=1.0; value of the SVM's constant feature, 0 for none
    cv : int or splitter, default=5
        Folds that select a pair, if there are more than two views: a number of stratified, shuffled
        folds, which respect the groups given to ``fit``; or a splitter that holds out every sample
        once.
    tol : float, default=1e-4; relative duality gap of the subspace; of the SVM a hundredth of it
    max_iter : int, default=2000; maximum number of the SVM's Newton steps for a class
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight`` in the subspace and in the SVM.
    n_jobs : int or None, default=None; number of pairs trained in parallel (joblib)
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of the folds

    Attributes
    ----------
    pair_ : tuple of two int or one; positions of the views of the subspace
    scores_ : dict; pair -> cross-validated accuracy, empty if there is only one pair
    components_ : list of two arrays (d_v, t), U of the pair
    rows_ : int array (n_complete,), training samples with both views, which define the subspace
    factor_ : array (n_complete, t), H of these samples
    alpha_, theta_, objective_, dual_gap_ : float
    scale_ : float, root mean square norm of h over the training samples
    coef_, intercept_ : arrays (1 or n_classes, t) and (1 or n_classes,), of the SVM on h
    n_iter_ : int, iterations of the SVM
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    MVML : A learnt metric between kernels of the views.

    Notes
    -----
    Provenance: public implementation. Objective and norm agree with a public program by one of the
    authors (X. Zhang's convex_multi_view); the algorithm is ours.

    Views should be centred and have one scale. If a sample lacks one view of the pair, its h is
    fitted to the other, in training and in prediction; without both views h is 0. Sparse views are
    made dense. With one view, Omega is its trace norm over beta. Several classes share one
    subspace, with SVMs one-vs-rest.

    Weights multiply the squares in the subspace's problem, the losses of the SVM and the terms of
    the accuracy; the subspace depends on the classes only through ``class_weight``. With more than
    two views, repeating a sample can select another pair than a weight of 2, because the copies can
    be in different folds.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import MSL
    >>> data = load_iris_views()
    >>> model = MSL(C=10.0, random_state=0).fit(data.X, data.y)
    >>> [part.shape for part in model.components_]
    [(2, 2), (2, 2)]
    """

    _learnt = "coef_"

    def __init__(
        self,
        alpha: float = 0.1,
        *,
        C: float = 10.0,
        beta: float | Sequence[float] = 1.0,
        ridge: float = 1e-3,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        intercept_scaling: float = 1.0,
        cv: int | Splitter = 5,
        tol: float = 1e-4,
        max_iter: int = 2000,
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.alpha, self.C, self.beta = alpha, C, beta
        self.ridge, self.loss, self.intercept_scaling = ridge, loss, intercept_scaling
        self.cv, self.tol, self.max_iter = cv, tol, max_iter
        self.class_weight, self.n_jobs = class_weight, n_jobs
        self.views, self.random_state = views, random_state

    def _fit(self, X, codes, weights, groups):
        """Learn the subspace and the SVM."""
        beta = one_per_view(self.beta, X.n_views, "beta")
        for b in beta:
            check_number(b, "beta", low=0, low_open=True)
        pairs = self._pairs(X)
        rows = [np.flatnonzero(X.observed[:, pair].all(axis=1)) for pair in pairs]
        rng = check_random_state(self.random_state)
        root = np.ones(X.n_samples) if weights is None else np.sqrt(weights)
        tables = (
            [_dense(X.views[v][r]).T * root[r] for v in pair]
            for pair, r in zip(pairs, rows, strict=True)
        )
        options = {"loss": self.loss, "tol": self.tol / 100, "max_iter": self.max_iter}
        options["intercept_scaling"] = self.intercept_scaling
        learnt = Parallel(self.n_jobs)(
            delayed(self._subspace)(table, [beta[v] for v in pair])
            for table, pair in zip(tables, pairs, strict=True)
        )
        features = [
            _represent(X, pair, one.U[: len(pair)], self.ridge)
            for pair, (_, one) in zip(pairs, learnt, strict=True)
        ]
        best, self.scores_ = 0, {}
        if len(pairs) > 1:
            folds = folds_of(self.cv, codes, rng, groups)
            accuracies = [self._accuracy(F, codes, weights, folds, options) for F in features]
            best = int(np.argmax(accuracies))
            self.scores_ = dict(zip(pairs, accuracies, strict=True))
        self.pair_, self.rows_ = pairs[best], rows[best]
        told = "the subspace is learnt from these only: select other views with X.select"
        warn_if_few_complete(len(self.rows_), X.n_samples, told)
        self.alpha_, found = learnt[best]
        self.components_ = found.U[: len(self.pair_)]
        self.factor_ = (found.H / root[self.rows_]).T
        self.theta_, self.objective_, self.dual_gap_ = found.theta, found.value, found.gap
        if not found.converged:
            warn_caller(
                f"MSL did not converge: its duality gap is {found.gap:.3g} at an objective of "
                f"{found.value:.3g}. Increase tol={self.tol:g}, or standardise the views."
            )
        self.scale_ = _root_mean_square(features[best], weights)
        features = features[best] / self.scale_
        svm = fit_linear_svm(features, codes, self.C, weights=weights, **options)
        self.coef_, self.intercept_, self.n_iter_, _, _ = svm

    def _pairs(self, X):
        """Return the pairs of view positions to learn, those that some sample has together."""
        pairs = list(combinations(range(X.n_views), min(X.n_views, 2)))
        met = [pair for pair in pairs if X.observed[:, pair].all(axis=1).any()]
        if not met:
            told = f"the views {[X.names[v] for v in pairs[0]]}" if len(pairs) == 1 else "two views"
            raise ValueError(
                f"MSL needs training samples that have {told}, and there is none. Use one "
                "classifier per view, such as mvref.PerViewClassifier."
            )
        return met

    def _subspace(self, tables, beta):
        if len(tables) == 1:  # the other view has no features
            tables, beta = [*tables, np.empty((0, tables[0].shape[1]))], [*beta, 1.0]
        widths = [len(table) for table in tables]
        with np.errstate(over="ignore", invalid="ignore"):
            size = sum((table**2).sum() for table in tables)
        if not 1e-200 < size < 1e200 and size != 0:
            raise ValueError("X has values too large or too small for squares. Scale the views.")
        alpha = self.alpha * dual_norm(np.vstack(tables), widths, beta)
        return alpha, learn_subspace(tables, alpha, beta=beta, tol=self.tol)

    def _accuracy(self, F, codes, weights, folds, options):
        """Return the mean accuracy over the folds."""
        F = F / _root_mean_square(F, weights)
        w = np.ones(len(F)) if weights is None else weights
        accuracies = []
        for train, test in folds.split():
            known, own = np.unique(codes[train], return_inverse=True)
            svm = fit_linear_svm(F[train], own, self.C, weights=w[train], **options)
            scores = F[test] @ svm.coef.T + svm.intercept
            said = scores.argmax(axis=1) if len(known) > 2 else (scores[:, 0] > 0).astype(int)
            accuracies.append(np.average(known[said] == codes[test], weights=w[test]))
        return np.mean(accuracies)

    def represent(self, X: Views) -> np.ndarray:
        """Compute the representation h of samples in the subspace.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        h : array, shape (n, t)
        """
        check_is_fitted(self, self._learnt)
        return self._represented(validate_views(self, X, reset=False))

    def _represented(self, X):
        return _represent(X, self.pair_, self.components_, self.ridge)

    def _scores(self, X):
        scores = self._represented(X) / self.scale_ @ self.coef_.T + self.intercept_
        if not np.isfinite(scores).all():
            raise ValueError("X has values too large for finite scores.")
        return scores

    def _check_parameters(self):
        for name in ("alpha", "C", "ridge", "tol"):
            check_number(getattr(self, name), name, low=0, low_open=True)
        if self.alpha >= 1 or self.tol >= 0.1:
            got = f"got {self.alpha!r} and {self.tol!r}"
            raise ValueError(f"alpha must be below 1 and tol below 0.1, {got}.")
        check_number(self.intercept_scaling, "intercept_scaling", low=0)
        check_choice(self.loss, "loss", LOSSES)
        check_folds(self.cv)
        check_number(self.max_iter, "max_iter", low=1, integer=True)


def _represent(X, pair, U, ridge):
    """Return h = argmin 1/2 |x - U h|^2 + r/2 |h|^2 over the views of the pair of each sample."""
    r = ridge * np.linalg.norm(np.vstack(U), 2) ** 2
    h = np.zeros((X.n_samples, U[0].shape[1]))
    there = X.observed[:, pair]
    for pattern in np.unique(there, axis=0):
        rows, seen = np.flatnonzero((there == pattern).all(axis=1)), np.flatnonzero(pattern)
        if len(seen):
            A = np.vstack([U[k] for k in seen])
            x = np.hstack([_dense(X.views[pair[k]][rows]) for k in seen])
            h[rows] = x @ np.linalg.solve(A.T @ A + r * np.eye(A.shape[1]), A.T).T
    return h


def _root_mean_square(F, weights):
    squares, n = F**2, len(F)
    if weights is not None:
        squares, n = weights[:, None] * squares, weights.sum()
    size = float(np.sqrt(squares.sum() / n))
    return size if size > 0 else 1.0


def _dense(view):
    return view.toarray() if sparse.issparse(view) else np.ascontiguousarray(view)

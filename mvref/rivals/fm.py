"""Factorisation machines: linear weights, and interactions whose weights are factorised.

S. Rendle, "Factorization machines", ICDM 2010; a rival of multi-view machines in section 5.3 of
Cao, Zhou and Yu (2015), whose equation numbers are used. Chapters: part IV of the book.

Problem   min over w0, w, V of  1/n sum_i loss(y_i, y^_i) + alpha (|w|^2 + sum_p |V_p|^2)
          y^ = w0 + w'x + sum_{i<j} <v_i, v_j> x_i x_j                            (Eq. 26)
          Eq. (27), ``multiview``: only pairs of features of different views.
          Order P > 2 adds the interactions of 3, ..., P features, or features of as many different
          views, with factors V_p of their own for each order p.

Symbols   paper      code             shape
          w0         intercept_       -          global bias, not penalised
          w          coef_            (d,)       d features of all views, called I in the paper
          v_i        factors_[p - 2]  (d, k)     row i: factors of feature i for order p
          lambda     alpha            -          the same unit as that of multi-view machines

Loss      classes  log(1 + exp(-y y^)), y = -1, +1  (Eq. 12);   numbers  (y - y^)^2  (Eq. 11)

Algorithm L-BFGS with exact gradients. The interactions cost O(k nnz) for pairs and O(k p nnz) for
          order p, see :mod:`mvref.rivals.anova`. At the start w = 0, w0 is the best constant and
          the factors of pairs are N(0, 0.01), of standard deviation 0.1: V = 0 is stationary.

Collapse  With alpha > 0, V_p = 0 is a strict local minimum in V_p for every p > 2, as A = 0 is for
          multi-view machines: small factors shrink to 0. Factors of standard deviation 0.1^(2/p)
          escape where those of 0.1 do not, but not for every alpha.

Departures
          * L-BFGS for stochastic gradients;
          * a missing view counts as zeros, and adds nothing to the score.
"""

import numpy as np
from joblib import Parallel, delayed
from scipy.special import logit
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state

from ..core.base import (
    logistic_probabilities,
    one_against_rest,
    validate_numbers,
    validate_targets,
    validate_views,
    winning_labels,
)
from ..core.losses import logistic, squared
from .fm_core import FactorisationMachine


class FMClassifier(ClassifierMixin, FactorisationMachine):
    """Factorisation machine with the logistic loss; several classes one against the rest.

    Parameters
    ----------
    n_factors : int, default=8
        k, length of the factors of every feature.
    order : int, default=2
        P, the largest number of features in a product. 1: logistic regression.
    multiview : bool, default=False
        Only products of features of different views (Eq. 27). Orders above the number of views
        then have no term.
    alpha : float, default=1e-3
        lambda, weight of the squares of all parameters but w0, against the mean loss.
    init_scale : float, default=0.1
        Standard deviation of the factors of pairs at the start; for order p its power 2/p, so that
        products of p of them are as large.
    tol : float, default=1e-7
        Largest entry of the gradient at the end; in units of the objective at the start, where
        that is above 1.
    max_iter : int, default=2000
        Largest number of iterations of L-BFGS.
    n_jobs : int or None
        Classes learnt in parallel (joblib).
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views: widths, slices, index lists or column names.
    random_state : int, RandomState instance or None
        Draw of the factors at the start.

    Attributes
    ----------
    intercept_ : float, or array (n_classes,)
        w0.
    coef_ : array (d,), or (n_classes, d) with more than two classes
        w, weights of single features.
    factors_ : array (n_orders, d, k), or (n_classes, n_orders, d, k)
        ``factors_[p - 2]`` belongs to the products of p features.
    loss_curve_ : array (n_iter + 1,), or a list of them
        The objective from the start on.
    n_iter_ : int
        Iterations; the largest number over the classes.
    classes_ : array of labels
        In the order of the columns of the scores.
    n_features_in_ : int
        Columns of all views together.

    See Also
    --------
    FMRegressor : the same for numbers.
    mvref.MVMClassifier : factors that all orders share.
    STMClassifier : the highest order alone.

    Notes
    -----
    Provenance: public implementation. Scores of pairs are those of Rendle's program libFM; the
    restriction to different views is described by Cao, Zhou and Yu (2015), and orders above 2 are
    from memory of Blondel et al. (2016): a reconstruction.

    Views should have comparable scales, such as unit variance. A missing view counts as zeros. With
    small `alpha` and a larger `tol` rounding may move scores by a part in a thousand.

    References
    ----------
    Rendle, ICDM 2010. Blondel, Fujino, Ueda and Ishihata, NIPS 2016.

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> from mvref.rivals import FMClassifier
    >>> data = load_iris_views()
    >>> model = FMClassifier(2, multiview=True, random_state=0).fit(data.X, data.y == 1)
    >>> model.factors_.shape, model.n_parameters
    ((1, 4, 2), 13)
    """

    def __init__(
        self,
        n_factors=8,
        *,
        order=2,
        multiview=False,
        alpha=1e-3,
        init_scale=0.1,
        tol=1e-7,
        max_iter=2000,
        n_jobs=None,
        views=None,
        random_state=None,
    ):
        super().__init__(
            n_factors,
            order=order,
            multiview=multiview,
            alpha=alpha,
            init_scale=init_scale,
            tol=tol,
            max_iter=max_iter,
            views=views,
            random_state=random_state,
        )
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Learn the weights and the factors.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples
        y : array-like of shape (n,)

        Returns
        -------
        self : FMClassifier

        Raises
        ------
        ValueError
            For wrong input, a parameter out of range or a single class.
        """
        X = validate_views(self, X, reset=True)
        self._check_parameters()
        codes = validate_targets(self, y, X.n_samples)
        columns, terms = self._design(X)
        signs = one_against_rest(codes, len(self.classes_))
        rng = check_random_state(self.random_state)
        seeds = rng.randint(2**31, size=len(signs))
        learnt = Parallel(self.n_jobs)(
            delayed(self._solve)(
                columns,
                terms,
                y_k,
                logistic,
                logit(np.mean(y_k > 0)),
                np.random.RandomState(seed),
            )
            for y_k, seed in zip(signs, seeds, strict=True)
        )
        self._set_fitted(learnt, len(terms), several=len(signs) > 1)
        return self

    def decision_function(self, X):
        """Return the score y^: shape (n,) for two classes, else (n, n_classes).

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        scores : array
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X):
        """Return the probability of every class.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        probabilities : array, shape (n, n_classes)
            Two classes: the logistic function of the score. More: those of the machines, divided
            by their sum.
        """
        return logistic_probabilities(self._scores(X))

    def predict(self, X):
        """Return the class with the best score.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        y : array of labels, shape (n,)
        """
        return winning_labels(self.decision_function(X), self.classes_)


class FMRegressor(RegressorMixin, FactorisationMachine):
    """Factorisation machine with the squared loss.

    Parameters
    ----------
    n_factors : int, default=8
        k, length of the factors of every feature.
    order : int, default=2
        P, the largest number of features in a product. 1: ridge regression.
    multiview : bool, default=False
        Only products of features of different views (Eq. 27). Orders above the number of views
        then have no term.
    alpha : float, default=1e-3
        lambda, weight of the squares of all parameters but w0, against the mean loss.
    init_scale : float, default=0.1
        Standard deviation of the factors of pairs at the start; for order p its power 2/p, so that
        products of p of them are as large.
    tol : float, default=1e-7
        Largest entry of the gradient at the end; in units of the objective at the start, where
        that is above 1.
    max_iter : int, default=2000
        Largest number of iterations of L-BFGS.
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views: widths, slices, index lists or column names.
    random_state : int, RandomState instance or None
        Draw of the factors at the start.

    Attributes
    ----------
    intercept_ : float
        w0.
    coef_ : array (d,)
        w, weights of single features.
    factors_ : array (n_orders, d, k)
        ``factors_[p - 2]`` belongs to the products of p features.
    loss_curve_ : array (n_iter + 1,)
        The objective from the start on.
    n_iter_ : int
        Iterations that were made.
    n_features_in_ : int
        Columns of all views together.

    See Also
    --------
    FMClassifier : the same for classes.
    mvref.MVMRegressor : factors that all orders share.

    Notes
    -----
    Provenance: public implementation. As for :class:`FMClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref.rivals import FMRegressor
    >>> x, z = np.random.RandomState(0).normal(size=(2, 100, 1))
    >>> model = FMRegressor(1, multiview=True, alpha=0, random_state=0)
    >>> float(np.prod(model.fit([x, z], 3 * (x * z)[:, 0]).factors_).round(4))
    3.0
    """

    def fit(self, X, y):
        """Learn the weights and the factors.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples
        y : array-like of shape (n,)

        Returns
        -------
        self : FMRegressor

        Raises
        ------
        ValueError
            For wrong input or a parameter out of range.
        """
        X = validate_views(self, X, reset=True)
        self._check_parameters()
        y = validate_numbers(self, y, X.n_samples)
        columns, terms = self._design(X)
        rng = check_random_state(self.random_state)
        learnt = self._solve(columns, terms, y, squared, y.mean(), rng)
        self._set_fitted([learnt], len(terms), several=False)
        return self

    def predict(self, X):
        """Return the score y^.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        y : array, shape (n,)
        """
        return self._scores(X)[:, 0]

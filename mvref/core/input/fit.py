"""Path of X, y and the weights through ``fit`` into the ``_fit`` of a method."""

from contextlib import nullcontext

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from .checks import (
    check_votable,
    memory_for,
    refuse_huge,
    warn_if_nothing_learnt,
    warn_of_views_by_class,
)
from .ids import check_ids
from .labels import sample_weights, validate_groups, validate_numbers, validate_targets
from .samples import validate_views
from .threads import one_blas_thread
from .typing import Any, ArrayLike, Iterable, Iterator, Mapping, Self, Views

FEWER = (
    "What does without the similarities of all pairs of them: mvref.fit_in_chunks, "
    "mvref.MVMClassifier(solver='sgd'), mvref.PerViewClassifier with a linear model."
)


class MultiViewInput:
    """Mixin of all estimators: input and tags of scikit-learn, and `fit` of those that predict.

    Sparse input is accepted; NaN is, where it can mean a missing view. ``_learnt`` names an
    attribute that only a fitted estimator has.
    """

    _raw = False  # True: members accept words and single missing values
    _needs_a_view = True  # False: the subclass handles samples without any view
    _one_blas_thread = True  # while it learns; False: see :mod:`.threads`

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.views is not None
        return tags

    def fit(self, X: Views, y: ArrayLike) -> Self:
        """Fit the estimator to samples and their labels or numbers.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples
        y : array-like of shape (n,); labels of any type, or in a regressor numbers

        Returns
        -------
        self : object; the fitted estimator

        Raises
        ------
        ValueError
            For wrong input, a parameter out of range, a single class, or a sample without views.
        """
        return self._check_and_fit(X, y)

    def _check_and_fit(self, X, y, *more, **given):
        """Check the input and fit; given: sample_weight and groups, where a method takes them.

        more: passed on to ``_fit``, before the groups.
        """
        X = validate_views(self, X, reset=True, raw=self._raw, y=y, **given)
        self._check_parameters()
        splits = "groups" in given
        groups = validate_groups(given.pop("groups", None), X.n_samples)
        rows, targets, weights = self._targets(X.n_samples, y, **given)
        if splits:
            more = (*more, None if groups is None else groups[rows])
        if isinstance(self, Weighted):
            more = (weights, *more)
        if len(rows) < X.n_samples:
            _refuse_cut_gram(self, X.n_samples - len(rows))
            X = X[rows]
        if self._needs_a_view:
            check_votable(X)
        for name, seen in zip(X.names, X.observed.T, strict=True):
            if not seen.any():
                raise ValueError(f"view {name!r} is missing in every sample: leave it out.")
        if is_classifier(self) and not X.observed.all():
            warn_of_views_by_class(X, targets, self.classes_)
        try:
            limit = one_blas_thread() if self._one_blas_thread else nullcontext()
            with memory_for(self, X, FEWER), limit:
                self._fit(X, targets, *more)
        except (ArithmeticError, ValueError) as error:
            refuse_huge(X, error)
            raise
        warn_if_nothing_learnt(self, X, targets, weights)
        return self

    def _targets(self, n_samples, y, sample_weight=None):
        """Return the rows to learn from, their codes or numbers, and their weights or None."""
        validate = validate_targets if is_classifier(self) else validate_numbers
        targets = validate(self, y, n_samples)
        y = self.classes_[targets] if is_classifier(self) else targets
        rows, weights = sample_weights(self, y, sample_weight)
        if len(rows) < n_samples:  # perhaps without a class
            targets = validate(self, y[rows], len(rows))
        return rows, targets, weights

    def _validated(self, X):
        """Return samples to predict as a MultiView in the order of ``fit``."""
        check_is_fitted(self, self._learnt)
        X = validate_views(self, X, reset=False, raw=self._raw)
        if self._needs_a_view:
            check_votable(X)
        return X


class Weighted:
    """Mixin of a method whose objective has a weighted form: ``_fit(X, codes, weights)``.

    A weight k stands for k copies of a sample. A classifier has the parameter ``class_weight``.
    """

    def fit(self, X: Views, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the estimator to samples and their labels or numbers.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples
        y : array-like of shape (n,); labels of any type, or in a regressor numbers
        sample_weight : array-like of n numbers >= 0, default=None
            A weight of 2 is worth the same as the sample twice, one of 0 as a sample left out.

        Returns
        -------
        self : object; the fitted estimator

        Raises
        ------
        ValueError
            For wrong input, a parameter out of range, a single class, or a sample without views.
        """
        return self._check_and_fit(X, y, sample_weight=sample_weight)


class Splitting(Weighted):
    """Mixin of a weighted method that splits its samples: ``_fit(X, codes, weights, groups)``.

    The samples of a group are on one side of every split. Like the splitters of scikit-learn, it
    requests groups by default where metadata are routed.
    """

    __metadata_request__fit = {"groups": True}

    def fit(
        self,
        X: Views,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the estimator to samples and their labels or numbers.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples
        y : array-like of shape (n,); labels of any type, or in a regressor numbers
        sample_weight : array-like of n numbers >= 0, default=None
            A weight of 2 is worth the same as the sample twice, one of 0 as a sample left out.
        groups : array-like of n labels, default=None
            Samples of a group, such as the visits of a patient, are kept together in all splits:
            in those of the method itself, and in those of members that take groups.

        Returns
        -------
        self : object; the fitted estimator

        Raises
        ------
        ValueError
            For wrong input, a parameter out of range, a single class, or a sample without views.
        """
        return self._check_and_fit(X, y, sample_weight=sample_weight, groups=groups)


class OnePreparation:
    """Mixin of a method that is trained at several points after one preparation of the samples.

    ``_point`` names the parameters that a point may change. In ``_fit(X, targets, ..., shared)``
    the dict `shared` is empty for the first point, and holds what it left there for the next one.
    """

    _point: tuple[str, ...] = ()

    def path(
        self, X: Views, y: ArrayLike, points: Iterable[Mapping[str, Any]], **weights: ArrayLike
    ) -> Iterator[Self]:
        """Fit one model for each point of the parameters; what no point changes is computed once.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples
        y : array-like of shape (n,)
        points : iterable of dicts, name -> value, such as scikit-learn's ``ParameterGrid``
            They may change c, tol and max_iter of MVLSVM; measure, beta, C1, C2, normalize, tol and
            max_iter of MVPO, where points in a row that agree in C1 share its factorisation.
        **weights : ``sample_weight``, where ``fit`` takes it

        Returns
        -------
        models : iterator of fitted models, one for each point; the estimator itself is not fitted

        Raises
        ------
        ValueError
            If a point is no dict, or changes another parameter; and as ``fit``.
        """
        points, shared, free = list(points), dict[str, Any](), set(self._point)
        if others := [p for p in points if not (isinstance(p, Mapping) and p.keys() <= free)]:
            raise ValueError(
                f"points must be dicts with keys among {', '.join(self._point)}, got {others[0]!r}."
            )
        models = [clone(self).set_params(**point) for point in points]
        return (model._check_and_fit(X, y, shared, **weights) for model in models)


class Scored:
    """Mixin of predictors: ``score`` compares the ids of y and weights with the ids of X."""

    def score(self, X: Views, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of ``predict(X)``, or R² for a regressor.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples
        y : array-like of shape (n,)
        sample_weight : array-like of n numbers, default=None

        Returns
        -------
        score : float
        """
        check_ids(X, y=y, sample_weight=sample_weight)
        return super().score(X, y, sample_weight)


def _refuse_cut_gram(estimator, n_without):
    """Raise a ValueError for samples of weight 0, whose columns a Gram matrix would keep."""
    kernel = getattr(estimator, "kernel", None)
    if "gram" in (kernel if isinstance(kernel, list | tuple | np.ndarray) else [kernel]):
        raise ValueError(
            f"sample_weight is 0 for {n_without} samples: with kernel='gram' leave them out of X, "
            "rows and columns, instead."
        )

"""Types for signatures: what an argument may be; an estimator checks its value itself."""

# ruff: noqa: F401, signatures take all their names from here

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator


class Table(Protocol):
    """Anything with rows and columns: array, sparse matrix, data frame, AnnData, MultiView."""

    @property
    def shape(self) -> tuple[int, ...]: ...


class Splitter(Protocol):
    """A splitter of scikit-learn."""

    def split(self, *args: Any, **kwargs: Any) -> Iterable[Any]: ...


View = Table | Sequence[Sequence[float]] | Sequence[str]
Views = Table | Iterable[View] | Mapping[str, View]
ViewColumns = Sequence[Any] | Mapping[str, Any]
RandomState = int | np.random.RandomState
ClassWeight = Mapping[Any, float] | Literal["balanced"]
KernelName = Literal["rbf", "linear", "precomputed", "gram"]
Kernel = KernelName | Callable[..., Any]
KernelWidth = float | Literal["mean"]
Estimators = BaseEstimator | Sequence[Any] | Mapping[str, Any]

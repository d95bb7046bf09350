"""The data set object that every loader returns."""

from dataclasses import dataclass, field

import numpy as np

from ..core.input import MultiView


@dataclass(frozen=True, eq=False, repr=False)
class MultiViewDataset:
    """A labelled multi-view data set.

    Parameters
    ----------
    name : str, short name, which mentions if the data are a stand-in for the published ones
    X : MultiView
    y : array, shape (n_samples,) or (n_samples, n_classes)
        Class labels. If a sample may have several, an indicator matrix as in scikit-learn:
        ``y[i, k]`` is 1 if sample i is of class k, and 0 otherwise.
    target_names : list of str, names of the classes, in the order of ``np.unique(y)`` or of columns
    DESCR : str, source, licence, citation, shapes and checksums
    splits : list of (train, validation, test)
        Official splits as arrays of sample indices; empty if there are none. If a split has no
        validation set, for instance, that array is empty.
    meta : dict, further information on the samples

    Examples
    --------
    >>> from mvref.datasets import load_iris_views
    >>> iris = load_iris_views()
    >>> iris
    MultiViewDataset 'iris': 150 samples, 2 views, 3 classes
      views:   sepal (2), petal (2)
      classes: setosa, versicolor, virginica
      splits:  none
    >>> iris.X.select("petal").shape
    (150, 2)
    """

    name: str
    X: MultiView
    y: np.ndarray
    target_names: list
    DESCR: str
    splits: list = field(default_factory=list)
    meta: dict = field(default_factory=dict)

    def __post_init__(self):
        if self.X.n_samples != len(self.y):
            raise ValueError(f"X has {self.X.n_samples} samples, but y has {len(self.y)} labels.")
        if self._multi_label and not np.isin(self.y, (0, 1)).all():
            raise ValueError("y of two dimensions must be an indicator matrix of 0 and 1.")
        n_classes = self.y.shape[1] if self._multi_label else len(np.unique(self.y))
        if n_classes != len(self.target_names):
            raise ValueError(
                f"target_names has {len(self.target_names)} names, but y has {n_classes} classes."
            )

    @property
    def _multi_label(self):
        """True if `y` is an indicator matrix."""
        return np.ndim(self.y) == 2

    @property
    def view_names(self) -> list[str]:
        """Names of the views, a list of str."""
        return self.X.names

    def __repr__(self):
        X = self.X
        text = f"{type(self).__name__} {self.name!r}: {X.n_samples} samples, {X.n_views} views"
        views = ", ".join(f"{n} ({w})" for n, w in zip(X.names, X.widths, strict=True))
        if not self.target_names:  # regression
            return f"{text}\n  views:   {views}"
        splits = "; ".join("/".join(str(len(part)) for part in split) for split in self.splits)
        return (
            f"{text}, {len(self.target_names)} classes"
            f"{' (several for one sample)' if self._multi_label else ''}\n"
            f"  views:   {views}\n"
            f"  classes: {', '.join(self.target_names)}\n"
            f"  splits:  {splits + ' (train/validation/test)' if splits else 'none'}"
        )


def split_after(n_train, n_samples):
    """Return the official split whose training set comes first, without a validation set."""
    return np.arange(n_train), np.empty(0, np.int64), np.arange(n_train, n_samples)

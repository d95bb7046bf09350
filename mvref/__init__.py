"""mvref: the executable book and reference implementation of multi-view classification.

The book derives every method, and the modules contain the code that the book runs. The estimators
follow scikit-learn; their `X` is a :class:`MultiView`, a list of arrays, or one 2-D array together
with the parameter ``views``.
"""

from importlib import import_module

from . import datasets, rivals, theory
from .core.by_pattern import CalibratedByPattern, ConformalByPattern
from .core.estimator_checks import check_multiview_estimator
from .core.gaps import PatternClassifier, ViewDropout
from .core.input import TYPE_CHECKING, MultiView, NothingLearntWarning
from .core.inspection import ViewImportance, view_importance
from .core.kernels import Similarity
from .core.linear_svm import SolverFallbackWarning
from .core.per_view import PerView
from .core.per_view_classifier import PerViewClassifier
from .core.regressors import PatternRegressor, PerViewRegressor, ViewDropoutRegressor
from .mvl_svm import MVLSVM, LandmarkProjection, fit_in_chunks
from .mvm import MVMClassifier, MVMRegressor
from .mvm.solvers import AdaGrad
from .mvna_kmhks import KMHKS, MVNAKMHKS, NAKMHKS
from .mvpo import MVPO
from .mwmvc2 import MwMvC2

__version__ = "1.0.0"

__all__ = [
    "CalibratedByPattern", "Comparison", "ConformalByPattern", "KMHKS", "LandmarkProjection",
    "MVLSVM", "MVMClassifier", "MVMRegressor", "MVNAKMHKS", "MVPO", "MultiView", "MwMvC2",
    "NAKMHKS", "NothingLearntWarning", "PatternClassifier", "PatternRegressor", "PerView",
    "PerViewClassifier", "PerViewRegressor", "SolverFallbackWarning", "ViewDropout",
    "ViewDropoutRegressor", "ViewImportance", "all_methods", "check_multiview_estimator",
    "compare_methods", "datasets", "fit_in_chunks", "rivals", "skops_types", "theory",
    "view_importance",
]  # fmt: skip

PARTS = (
    MultiView, PatternClassifier, PerView, PerViewClassifier, ViewDropout, PatternRegressor,
    PerViewRegressor, ViewDropoutRegressor, CalibratedByPattern, ConformalByPattern, Similarity,
    AdaGrad,
)  # fmt: skip
OF_OTHERS = [  # compiled parts of trees and neighbours, which hold numbers
    "numpy.dtype",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.tree._tree.Tree",
]


if TYPE_CHECKING:
    from .compare import Comparison, compare_methods
else:

    def __getattr__(name):
        if name in ("Comparison", "compare_methods"):  # when asked for, as it needs pandas
            return getattr(import_module("mvref.compare"), name)
        raise AttributeError(f"module 'mvref' has no attribute {name!r}")


def all_methods() -> dict[str, type]:
    """Return every estimator of mvref: the five methods, then the competing methods.

    Returns
    -------
    methods : dict name -> class

    See Also
    --------
    compare_methods : Compare some of them on your data.
    skops_types : List the types in a stored model.

    Examples
    --------
    >>> import mvref
    >>> mvref.all_methods()["MVLSVM"] is mvref.MVLSVM
    True
    """
    methods = (
        LandmarkProjection, MVLSVM, MwMvC2, MVPO, MVMClassifier, MVMRegressor, MVNAKMHKS, NAKMHKS,
        KMHKS,
    )  # fmt: skip
    return {method.__name__: method for method in methods} | {
        name: getattr(rivals, name) for name in rivals.__all__
    }


def skops_types() -> list[str]:
    """Return the type names that skops has to trust to load an estimator of mvref.

    Returns
    -------
    types : list of str
        Pass them to ``skops.io.load(file, trusted=mvref.skops_types())``. They are the classes of
        mvref, and the parts of scikit-learn that skops does not trust by default.

    See Also
    --------
    all_methods : Every estimator.

    Notes
    -----
    For types of your own, add their names: ``[*mvref.skops_types(), "your_module.kernel"]``. skops
    cannot store data frames, so store a :class:`PatternClassifier` on text views with
    ``patterns="all"``.

    Examples
    --------
    >>> import mvref
    >>> "mvref.rivals.msl.MSL" in mvref.skops_types()
    True
    """
    own = {f"{t.__module__}.{t.__name__}" for t in (*all_methods().values(), *PARTS)}
    return sorted(own) + OF_OTHERS

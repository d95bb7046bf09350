"""mvref: the executable book and reference implementation of multi-view classification.

See the book for every method's derivation, and the modules for the code that it runs. The
estimators follow scikit-learn; their `X` is a :class:`MultiView`, a list of arrays, or one 2-D
array with the parameter ``views``.
"""

from . import datasets, rivals, theory
from .inspection import view_importance
from .linear_svm import SolverFallbackWarning
from .mvl_svm import MVLSVM, LandmarkProjection
from .mvm import MVMClassifier, MVMRegressor
from .mvna_kmhks import KMHKS, MVNAKMHKS, NAKMHKS
from .mvpo import MVPO
from .mwmvc2 import MwMvC2
from .out_of_core import fit_in_chunks
from .per_view import PerView
from .registry import all_methods
from .views import MultiView

__version__ = "0.1.0"

__all__ = [
    "KMHKS",
    "LandmarkProjection",
    "MVLSVM",
    "MVMClassifier",
    "MVMRegressor",
    "MVNAKMHKS",
    "MVPO",
    "MultiView",
    "MwMvC2",
    "NAKMHKS",
    "PerView",
    "SolverFallbackWarning",
    "all_methods",
    "datasets",
    "fit_in_chunks",
    "rivals",
    "theory",
    "view_importance",
]

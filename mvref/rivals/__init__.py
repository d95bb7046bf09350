"""The methods that the five papers compare with, under the API of mvref."""

from .boosting import MVWAB, RBoostSH
from .laplacian_completion import LaplacianCompletion
from .mumbo import Mumbo
from .one_classifier import Concat, Mono
from .per_view_svm import PerViewSVM
from .votes import MVMV, Fusion

__all__ = [
    "Concat",
    "Fusion",
    "LaplacianCompletion",
    "MVMV",
    "MVWAB",
    "Mono",
    "Mumbo",
    "PerViewSVM",
    "RBoostSH",
]

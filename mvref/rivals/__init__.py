"""The methods that the five papers compare with, under the API of mvref."""

from .boosting import MVWAB, RBoostSH
from .capo import CAPO
from .fs_multi import FSMulti
from .laplacian_completion import LaplacianCompletion
from .mumbo import Mumbo
from .one_classifier import Concat, Mono
from .per_view_svm import PerViewSVM
from .sms import SMS
from .svm_perf import SVMPerf
from .votes import MVMV, Fusion

__all__ = [
    "CAPO",
    "Concat",
    "FSMulti",
    "Fusion",
    "LaplacianCompletion",
    "MVMV",
    "MVWAB",
    "Mono",
    "Mumbo",
    "PerViewSVM",
    "RBoostSH",
    "SMS",
    "SVMPerf",
]

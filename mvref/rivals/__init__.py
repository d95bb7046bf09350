"""The methods that the five papers compare with, under the API of mvref."""

from .boosting import MVWAB, RBoostSH
from .capo import CAPO
from .fm import FMClassifier, FMRegressor
from .fs_multi import FSMulti
from .laplacian_completion import LaplacianCompletion
from .mumbo import Mumbo
from .one_classifier import Concat, Mono
from .per_view_svm import PerViewSVM
from .sms import SMS
from .stm import STMClassifier
from .svm_perf import SVMPerf
from .votes import MVMV, Fusion

__all__ = [
    "CAPO",
    "Concat",
    "FMClassifier",
    "FMRegressor",
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
    "STMClassifier",
    "SVMPerf",
]

"""The methods that the five papers compare with, under the API of mvref."""

from .boosting import MVWAB, RBoostSH
from .capo import CAPO
from .co_labeling import CoLabeling
from .fm import FMClassifier, FMRegressor
from .fs_multi import FSMulti
from .l3svm import L3SVM
from .laplacian_completion import LaplacianCompletion
from .msl import MSL
from .mumbo import Mumbo
from .mvml import MVML
from .one_classifier import Concat, Mono
from .per_view_svm import PerViewSVM
from .sms import SMS
from .stm import STMClassifier
from .svm2k import SVM2K
from .svm_perf import SVMPerf
from .votes import MVMV, Fusion

__all__ = [
    "CAPO",
    "CoLabeling",
    "Concat",
    "FMClassifier",
    "FMRegressor",
    "FSMulti",
    "Fusion",
    "L3SVM",
    "LaplacianCompletion",
    "MSL",
    "MVML",
    "MVMV",
    "MVWAB",
    "Mono",
    "Mumbo",
    "PerViewSVM",
    "RBoostSH",
    "SMS",
    "SVM2K",
    "STMClassifier",
    "SVMPerf",
]

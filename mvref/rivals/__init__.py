"""The competing methods and baselines of the five papers, with the API of mvref."""

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
    "CAPO", "CoLabeling", "Concat", "FMClassifier", "FMRegressor", "FSMulti", "Fusion", "L3SVM",
    "LaplacianCompletion", "MSL", "MVML", "MVMV", "MVWAB", "Mono", "Mumbo", "PerViewSVM",
    "RBoostSH", "SMS", "SVM2K", "STMClassifier", "SVMPerf",
]  # fmt: skip

# Source of each definition; the class docstrings and the pages on the rivals give details.
PROVENANCE = {
    name: kind
    for kind, names in {
        "full text": "PerViewSVM Mono Concat Fusion",
        "public implementation": "MVML MSL SVM2K L3SVM Mumbo FMClassifier FMRegressor "
        "LaplacianCompletion RBoostSH",
        "another paper's description": "MVMV SVMPerf",
        "abstract": "MVWAB SMS CAPO",
        "memory": "CoLabeling FSMulti STMClassifier",
    }.items()
    for name in names.split()
}

# A definition known from an abstract or from memory of the literature is a reconstruction.
RECONSTRUCTIONS = tuple(name for name, kind in PROVENANCE.items() if kind in ("abstract", "memory"))

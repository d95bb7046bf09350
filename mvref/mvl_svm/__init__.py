"""MVL-SVM: landmark SVMs on views that may be missing.

Read in this order: ``landmarks`` (similarities to landmarks, imputation), ``estimator`` (the SVM on
them), ``out_of_core`` (fit in chunks).

One page         Here
``fill``         ``impute``
``latent``       ``LandmarkProjection``
``linear_svm``   ``fit_linear_svm`` in :mod:`mvref.core.linear_svm`
"""

from .estimator import MVLSVM, block_sparse_norms
from .landmarks import LandmarkProjection, draw_landmarks, impute, project
from .out_of_core import fit_in_chunks

__all__ = [
    "LandmarkProjection", "MVLSVM", "block_sparse_norms", "draw_landmarks", "fit_in_chunks",
    "impute", "project",
]  # fmt: skip

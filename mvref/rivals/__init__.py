"""The methods that the five papers compare with, under the API of mvref."""

from .laplacian_completion import LaplacianCompletion
from .per_view_svm import PerViewSVM

__all__ = ["LaplacianCompletion", "PerViewSVM"]

"""The old place of :mod:`mvref.core.input.columns`, from which a chapter imports."""

from .input import view_features as view_features

"""Bounds of the papers as functions, beside the quantities they bound, measured."""

from . import bregman, stability

__all__ = ["bregman", "stability"]

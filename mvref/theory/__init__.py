"""Bounds of the papers as functions, beside the quantities they bound, measured."""

from . import stability

__all__ = ["stability"]

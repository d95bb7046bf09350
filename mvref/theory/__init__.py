"""Bounds of the papers as functions, beside the quantities they bound, measured."""

from . import bregman, performance, stability

__all__ = ["bregman", "performance", "stability"]

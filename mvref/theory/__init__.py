"""Bounds of the papers as functions, beside the quantities they bound, measured."""

from . import bregman, performance, rademacher, stability

__all__ = ["bregman", "performance", "rademacher", "stability"]

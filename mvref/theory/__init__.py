"""Bounds of the papers as functions, beside measurements of the quantities that they bound.

:mod:`~mvref.theory.bregman` (part II), :mod:`~mvref.theory.stability` (part I),
:mod:`~mvref.theory.performance` (part III); :mod:`~mvref.theory.rademacher`,
:mod:`~mvref.theory.gram` and :mod:`~mvref.theory.coverage` (part V).
"""

from . import bregman, coverage, gram, performance, rademacher, stability

__all__ = ["bregman", "coverage", "gram", "performance", "rademacher", "stability"]

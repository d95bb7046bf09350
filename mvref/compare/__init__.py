"""Are views worth anything on your own data? ``compare_methods``, and what it stands on."""

from .own_tables import Comparison, compare_methods

__all__ = ["Comparison", "compare_methods"]

"""Are views worth anything on your own data? ``compare_methods``, and what it stands on."""

from .comparison import Comparison
from .own_tables import compare_methods

__all__ = ["Comparison", "compare_methods"]

"""``compare_methods`` tests whether treating the views separately helps on your own data."""

from .comparison import Comparison
from .own_tables import compare_methods

__all__ = ["Comparison", "compare_methods"]

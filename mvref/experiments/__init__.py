"""Protocols of the papers' tables and figures, and the ledger of their results.

One module per paper holds the protocol as tables (:mod:`~mvref.experiments.tables`); all methods
of all papers are tuned, trained and tested by one function (:mod:`~mvref.experiments.tuning`). The
other modules are the engine (:mod:`~mvref.experiments.engine`), the data and their parts
(:mod:`~mvref.experiments.problems`), the machines that are tuned (parts I to V:
:mod:`~mvref.experiments.methods`, :mod:`~mvref.experiments.voting`,
:mod:`~mvref.experiments.ranking`, :mod:`~mvref.experiments.pair_methods`,
:mod:`~mvref.experiments.order_methods`,
:mod:`~mvref.experiments.nystrom_methods`), and reading the results
(:mod:`~mvref.experiments.report`, :mod:`~mvref.experiments.comparison`,
:mod:`~mvref.experiments.reproduction`). From the command line:
``python -m mvref list [--stale] | run ITEM... | compare ITEM | report [PAPER]``.
"""

from .comparison import compare
from .items import ITEMS, find_item, run_items, status
from .paired_tests import paired_significance
from .report import read_ledger, read_paper_numbers, significance, summarize
from .reproduction import reproduction_cells, reproduction_report
from .verdict_text import reproduction_page, verdict_table

__all__ = [
    "ITEMS",
    "compare",
    "find_item",
    "paired_significance",
    "read_ledger",
    "read_paper_numbers",
    "reproduction_cells",
    "reproduction_page",
    "reproduction_report",
    "run_items",
    "significance",
    "status",
    "summarize",
    "verdict_table",
]

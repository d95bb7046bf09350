"""Protocols of the papers' tables and figures, and the ledger of their results.

One module per paper holds the protocol as `tables`; all methods of all papers are tuned, trained
and tested by one function of `tuning`. The other modules are the `engine`, the data and their
splits (`problems`), the tuned methods (parts I to V: `methods`, `voting`, `ranking`,
`interactions`, `nystrom_methods`), and the evaluation of the results (`report`, `reproduction`,
`verdict_text`, `multiverse`). From the command line:
``python -m mvref list | cost ITEM... | run ITEM... | multiverse ITEM | compare ITEM | report``.
"""

from . import multiverse as multiverse  # its items
from .items import ITEMS, cost_lines, find_item, run_items, status
from .report import paired_significance, read_ledger, read_paper_numbers, significance, summarize
from .reproduction import reproduction_cells, reproduction_report
from .verdict_text import compare, reproduction_page, standing, verdict_table

__all__ = ["ITEMS", "compare", "cost_lines", "find_item", "paired_significance", "read_ledger"]
__all__ += ["read_paper_numbers", "reproduction_cells", "reproduction_page", "reproduction_report"]
__all__ += ["run_items", "significance", "standing", "status", "summarize", "verdict_table"]

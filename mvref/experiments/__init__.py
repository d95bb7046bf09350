"""Protocols of the papers' tables and figures, and the ledger of their results."""

from .items import ITEMS, find_item, run_items, status

def compare(): ...

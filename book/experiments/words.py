"""Words for names and choices of the ledger, from ``words.toml``, and short forms of numbers."""

import re
import tomllib
from pathlib import Path

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
NAMES, AXES, CHOICES = WORDS["names"], WORDS["axes"], WORDS["choices"]
NAME = "|".join(map(re.escape, sorted(NAMES, key=len, reverse=True)))


def readable(text):
    """Return the text with its names in words; quotations stay verbatim."""
    found = rf'"[^"]*"|(?<![\w-])(?:{NAME})(?![\w-])'
    return re.sub(found, lambda name: NAMES.get(name[0], name[0]), text)


def choice_of(axis, choice):
    """Return the words for a choice on an axis."""
    text = f"{choice:g}" if isinstance(choice, float) else str(choice)
    return CHOICES.get(axis, {}).get(text, CHOICES.get("any", {}).get(text, text))


def in_words(table):
    """Return a table of universes with the axes and choices of columns and index in words."""
    shown = table.reset_index() if table.index.names != [None] else table
    index = [name for name in table.index.names if name]  # all of them axes
    for axis in dict.fromkeys([*index, *shown.columns.intersection([*AXES, *CHOICES])]):
        shown = shown.assign(**{axis: [choice_of(axis, choice) for choice in shown[axis]]})
    shown = shown.rename(columns=AXES)
    return shown.set_index([AXES.get(axis, axis) for axis in index]) if index else shown


def span(values):
    """Format the least and largest of some numbers, up to four digits; counts without decimals."""
    low, high = min(values), max(values)
    largest = 0 if any(value % 1 for value in values) else 1000
    largest = max(largest, -low, high)
    form = ".3f" if largest < 10 else ".4g" if largest < 1000 else ".0f"
    return f"{low:{form}} to {high:{form}}"

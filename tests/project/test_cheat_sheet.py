"""The cheat sheet: its names exist, no method is forgotten; its code runs in test_examples.py."""

import inspect
import re
from pathlib import Path

import mvref
from mvref.experiments import find_item

TEXT = (Path(__file__).resolve().parents[2] / "book" / "cheat_sheet.md").read_text()
METHODS = mvref.all_methods()


def test_every_method_is_named():
    assert {name for name in METHODS if f"`{name}`" not in TEXT} == {"LandmarkProjection"}


def test_what_to_tune_are_parameters():
    """In the rows of the methods, the first column of code names classes, the last parameters."""
    rows = [line.split("|")[1:-1] for line in TEXT.splitlines() if line.startswith("|")]
    checked = 0
    for cells in rows:
        names = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
        classes = [METHODS[name] for name in names if name in METHODS]
        known = {p for method in classes for p in inspect.signature(method).parameters}
        if classes:
            tuned = [name for name in names if name not in METHODS]
            assert set(tuned) <= known, cells
            checked += len(tuned)
    assert checked > 20


def test_the_commands_name_real_items():
    for name in re.findall(r"python -m mvref \w+ (\w+\.\w+)", TEXT):
        assert find_item(name)

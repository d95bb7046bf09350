"""Optical digits: files that are wrong."""

import numpy as np
import pytest

from mvref.datasets import DatasetCorrupted
from mvref.datasets import _optdigits as optdigits_module
from tests.datasets.small import as_text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t[:-1], r"12 lines of 64 grey values .* shape \(11, 65\)"),
        (lambda t: t[:, 1:], r"shape \(12, 64\)"),
        (lambda t: np.where(t == 16, 17, t), "values from 0 to 17"),
        (lambda t: np.where(t == 1, -1, t), "values from -1 to 16"),
        (lambda t: np.where(t == 1, 1.5, t), "all whole numbers"),
        (lambda t: np.column_stack([t[:, :-1], t[:, -1] + 10]), "values from 0 to"),
    ],
)
def test_wrong_form_is_refused(tmp_path, put, monkeypatch, change, message):
    monkeypatch.setattr(optdigits_module, "N_TRAIN", 12)
    table = np.random.default_rng(0).integers(0, 17, (12, 65))
    table[:, -1] = np.arange(12) % 10
    path = put(tmp_path / "digits", as_text(change(table), ","))
    with pytest.raises(DatasetCorrupted, match=message):
        optdigits_module.read_digits(path)

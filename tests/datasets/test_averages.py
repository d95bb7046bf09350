"""What is stored of data that may be absent: the same again, where the files are."""

import numpy as np
import pytest

from mvref.datasets import fetch_flower17
from mvref.datasets.averages import SOURCES, compute, load_averages

STORED = load_averages()


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_stored_is_computed_from_the_files(name, need):
    need(name)
    if name == "flower17" and not fetch_flower17().meta["recomputed"]:
        pytest.skip("stored are the averages of recomputed distances, and here are Oxford's")
    found = compute(name)
    assert STORED[name].keys() == found.keys()
    for part, values in found.items():
        stored = STORED[name][part]
        assert stored.shape == values.shape and stored.dtype == values.dtype, part
        if values.dtype == np.float32:
            np.testing.assert_allclose(stored, values, rtol=1e-4, atol=1e-6, err_msg=part)
        else:
            np.testing.assert_array_equal(stored, values, err_msg=part)

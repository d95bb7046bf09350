"""The stored sizes are those of the data."""

import numpy as np
import pytest

from mvref.experiments.sizes import measure_sizes, read_sizes, size


@pytest.mark.data("name")
@pytest.mark.parametrize("name", read_sizes().index)
def test_sizes_are_measured(name):
    assert measure_sizes(name) == read_sizes().loc[name].tolist()


@pytest.mark.parametrize(
    ("dataset", "measure", "said"),
    [("webkb", "n_samples", 1051), ("reuters", "n_views", 5), ("reuters", "n_samples", np.nan),
     ("voc07", "n_samples", np.nan)],
)  # fmt: skip
def test_subsets_of_a_collection_have_a_size_where_it_is_one(dataset, measure, said):
    assert size(dataset, measure) == pytest.approx(said, nan_ok=True)

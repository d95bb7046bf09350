"""The stored sizes are those of the data."""

from types import SimpleNamespace

import pytest

from mvref.experiments.sizes import measure_sizes, read_sizes, size


@pytest.mark.data("name")
@pytest.mark.parametrize("name", read_sizes().index)
def test_sizes_are_measured(name):
    assert measure_sizes(name) == read_sizes().loc[name].tolist()


@pytest.mark.parametrize(
    ("dataset", "measure", "said"),
    [("reuters", "n_samples", "1200 and 600"), ("reuters", "n_views", "5"),
     ("voc07", "n_samples", "no rows")],
)  # fmt: skip
def test_a_collection_with_several_subsets_has_several_sizes(dataset, measure, said):
    assert size(None, SimpleNamespace(dataset=dataset, measure=measure)) == said

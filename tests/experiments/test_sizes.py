"""The stored sizes are those of the data."""

import pytest

from mvref.datasets import DatasetUnavailable
from mvref.experiments.sizes import DATASETS, SIZES, measure_sizes, read_sizes, size_of


@pytest.mark.parametrize("name", DATASETS)
def test_sizes_are_measured(name):
    try:
        measured = measure_sizes(name)
    except DatasetUnavailable as error:
        pytest.skip(str(error))
    assert measured == read_sizes().loc[name, list(SIZES)].tolist()


def test_a_collection_with_several_subsets_has_several_sizes():
    assert size_of("reuters", "n_samples") == "1200 and 600"
    assert size_of("reuters", "n_views") == "5"
    assert size_of("voc07", "n_samples") == "no rows"

"""What is stored of data that may be absent: the same again, where the files are."""

import numpy as np
import pytest

from mvref import MultiView
from mvref.datasets import fetch_flower17
from mvref.experiments.averages import SOURCES, agreement, compute, load_averages

STORED = load_averages()


@pytest.mark.data("name")
@pytest.mark.parametrize("name", SOURCES)
def test_what_is_stored_is_computed_from_the_files(name):
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


def test_agreement_is_the_correlation_of_cosines():
    X = MultiView([np.random.default_rng(v).normal(size=(6, 3 + v)) for v in range(2)])
    cosines = [
        [a @ b / np.sqrt((a @ a) * (b @ b)) for i, a in enumerate(view) for b in view[i + 1 :]]
        for view in X.views
    ]
    np.testing.assert_allclose(agreement(X), np.corrcoef(cosines))


@pytest.mark.parametrize(
    ("correlations", "least", "most"),
    [
        (STORED["citeseer"]["agreement"], 0.06, 0.09),
        (STORED["webkb"]["agreement"], 0.05, 0.05),
        (STORED["mnist"]["agreement"][0], 0.16, 0.24),
        (STORED["mnist"]["agreement"][1], 0.58, 0.81),
        (STORED["reuters1200"]["agreement"], 0.82, 0.85),
    ],
)
def test_views_agree_as_the_chapter_says(correlations, least, most):
    between = correlations[np.triu_indices(len(correlations), 1)]
    assert (round(float(between.min()), 2), round(float(between.max()), 2)) == (least, most)


def test_stored_is_what_the_chapter_and_the_descriptions_say():
    assert STORED["flower17"]["near"].tolist() == [30, 13, 6, 12]
    page, anchor = (" ".join(words) for words in STORED["webkb"]["words"])
    assert page == "course hours assignments instructor university class my research"
    assert anchor == "cs cse section computer systems programming to introduction"
    for between in STORED["reuters1200"]["between"]:  # cosines: the own topic is the nearest
        np.testing.assert_array_equal(between.argmax(axis=1), range(6))
        own = np.diag(between)
        assert set(np.argsort(own)[-2:]) == {2, 4} and own.argmin() == 1


def test_links_of_citeseer_are_as_the_chapter_says():
    """From row to column: the share of the citations, three of four within a field."""
    links, counts = STORED["citeseer"]["links"], STORED["citeseer"]["counts"]
    share = links / links.sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(share.argmax(axis=1), range(6))
    np.testing.assert_allclose(np.diag(share), [0.47, 0.78, 0.80, 0.77, 0.73, 0.70], atol=0.005)
    ai, ml = (STORED["citeseer"]["fields"].tolist().index(name) for name in ("AI", "ML"))
    assert round(float(share[ai, ml]), 2) == 0.25
    assert round(float(np.trace(links) / links.sum()), 2) == 0.74
    assert round(1 - counts[ai] / counts.sum(), 2) == 0.92

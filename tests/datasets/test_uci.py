"""Small UCI tables: published counts, each treatment of missing values, files that are wrong."""

import itertools
import re

import numpy as np
import pytest

from mvref.datasets import DatasetCorrupted, fetch_uci
from mvref.datasets import _uci as uci
from mvref.datasets._lookup import locate, open_content
from mvref.datasets._sources import FILES
from tests.datasets.small import SMALL, as_text

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"

COUNTS = [  # name, choices, number of samples of each class
    ("lung-cancer", {}, [9, 13, 10]),
    ("lung-cancer", {"missing": "drop"}, [8, 10, 9]),
    ("house-votes-84", {}, [267, 168]),
    ("house-votes-84", {"missing": "drop"}, [124, 108]),
    ("shuttle-landing-control", {}, [6, 9]),
    ("shuttle-landing-control", {"missing": "expand"}, [108, 145]),
    ("horse-colic", {}, [232, 136]),
    ("horse-colic", {"part": "data"}, [191, 109]),
    ("horse-colic", {"target": "outcome"}, [225, 89, 52]),
    ("horse-colic", {"target": "outcome", "part": "data"}, [178, 77, 44]),
    ("echocardiogram", {}, [88, 43]),
    ("echocardiogram", {"missing": "drop"}, [74, 33]),
    ("echocardiogram", {"target": "alive_at_1"}, [50, 24]),
    ("echocardiogram", {"target": "alive_at_1", "missing": "drop"}, [44, 18]),
]


WIDTHS = dict(zip(uci.TABLES, (56, 16, 6, 21, 7), strict=True))
# values that the files do not have, of the samples with the default target
GAPS = dict(zip(uci.TABLES, (5, 392, 26, 1925, 40), strict=True))


def literal_rows(name):
    """The fields of the files of a data set, read without the loader."""
    rows = []
    for path in filter(None, (locate(name, f"{name}.data"), locate(name, f"{name}.test"))):
        with open_content(path) as stream:
            lines = stream.read().decode().split("\n")
        rows += [[f for f in re.split("[, ]", line.strip().lstrip(",")) if f] for line in lines]
    return [row for row in rows if row]


# ------------------------------------------------------------------ the files themselves


@pytest.mark.data("name")
@pytest.mark.parametrize(("name", "choices", "counts"), COUNTS)
def test_published_counts(name, choices, counts):
    table = fetch_uci(name, **choices)
    assert np.bincount(table.y).tolist() == counts
    assert table.view_names == ["attributes"] and table.X.widths == [WIDTHS[name]]
    assert len(table.target_names) == len(counts)
    assert np.isfinite(table.X.views[0]).all()


@pytest.mark.data("name")
@pytest.mark.parametrize("name", WIDTHS)
def test_every_value_is_that_of_the_file(name):
    table, rows = fetch_uci(name, missing="keep"), literal_rows(name)
    field = {"horse-colic": 23, "echocardiogram": 1}.get(name, 0)
    own = {"horse-colic": [0, 1, *range(3, 22)], "echocardiogram": range(2, 9)}
    inputs = own.get(name, range(1, 1 + WIDTHS[name]))
    known = [i for i, row in enumerate(rows) if row[field] != "?"]
    assert table.meta["row"].tolist() == known
    codes = sorted({row[field] for row in rows} - {"?"})
    assert table.y.tolist() == [codes.index(rows[i][field]) for i in known]
    text = {"y": "1", "n": "-1", "?": "nan", "*": "nan"}
    A = table.X.views[0]
    expected = [[float(text.get(rows[i][k], rows[i][k])) for k in inputs] for i in known]
    np.testing.assert_array_equal(A, expected)
    np.testing.assert_array_equal(np.isnan(A), table.meta["missing"])
    assert np.isnan(A).sum() == GAPS[name]
    for a, measured in zip(A.T, table.meta["measured"], strict=True):
        assert measured == (len(np.unique(a[~np.isnan(a)])) > 6)  # codes have 6 values at most
    if name in ("house-votes-84", "shuttle-landing-control"):
        own = fetch_uci(name, missing="value").X.views[0]
        np.testing.assert_array_equal(own, np.nan_to_num(A, nan=0.0))
        assert 0 not in A


@pytest.mark.data("name")
@pytest.mark.parametrize("name", ["lung-cancer", "house-votes-84", "horse-colic", "echocardiogram"])
def test_fill_keeps_what_is_there(name):
    filled, kept = fetch_uci(name, missing="fill"), fetch_uci(name, missing="keep")
    A, B = filled.X.views[0], kept.X.views[0]
    gone = np.isnan(B)
    np.testing.assert_array_equal(A[~gone], B[~gone])
    for j, measured in enumerate(filled.meta["measured"]):
        there = B[~gone[:, j], j].tolist()
        expected = np.mean(there) if measured else max(sorted(set(there)), key=there.count)
        np.testing.assert_allclose(A[gone[:, j], j], expected, rtol=1e-12)
    np.testing.assert_array_equal(filled.meta["missing"], gone)


@pytest.mark.data("shuttle-landing-control")
def test_situations_of_the_shuttle():
    """Each situation of the 256 by itself: the rules that cover it agree, and three have none."""
    rules = literal_rows("shuttle-landing-control")
    shuttle = fetch_uci("shuttle-landing-control", missing="expand")
    names, y = shuttle.target_names, shuttle.y
    found = {tuple(x): names[k] for x, k in zip(shuttle.X.views[0], y, strict=True)}
    assert len(found) == len(y) == 253
    for situation in itertools.product(*(range(1, n + 1) for n in (2, 4, 2, 2, 4, 2))):
        codes = {
            rule[0]
            for rule in rules
            if all(r in ("*", str(s)) for r, s in zip(rule[1:], situation, strict=True))
        }
        assert len(codes) <= 1
        expected = {"1": "by hand", "2": "automatic"}[codes.pop()] if codes else None
        assert found.get(tuple(map(float, situation))) == expected


@pytest.mark.data("horse-colic")
def test_horses_are_split_as_their_files():
    for target, sizes in (("lesion", (300, 0, 68)), ("outcome", (299, 0, 67))):
        horses = fetch_uci("horse-colic", target=target)
        (split,) = horses.splits
        assert tuple(map(len, split)) == sizes
        assert (horses.meta["row"][split[0]] < 300).all()
        assert (horses.meta["row"][split[2]] >= 300).all()
    assert fetch_uci("horse-colic", part="data").splits == []


def test_no_target_is_an_input():
    for name, table in uci.TABLES.items():
        inputs = uci.input_fields(name)
        assert not {field for field, _ in table["targets"].values()} & set(inputs.values())
        assert set(table["measured"].split()) <= set(inputs)
    assert set(uci.input_fields("horse-colic").values()) == set(range(22)) - {2}
    assert set(uci.input_fields("echocardiogram").values()) == set(range(2, 9))


@pytest.mark.data("horse-colic")
def test_description_tells_the_choices():
    text = " ".join(fetch_uci("horse-colic", target="outcome", missing="keep").DESCR.split())
    for part in ("target 'outcome', missing 'keep', part 'all'", uci.HORSE_TEST_VALUES, UCI):
        assert part in text
    assert FILES["horse-colic"]["horse-colic.data"][0] in text
    assert "horse-colic.test" not in fetch_uci("horse-colic", part="data").DESCR


# ------------------------------------------------------------------ the format, on small files


def test_gaps_of_votes(small):
    small("house-votes-84")
    assert fetch_uci("house-votes-84", missing="fill").X.views[0][1, 0] == -1
    dropped = fetch_uci("house-votes-84", missing="drop")
    assert dropped.meta["row"].tolist() == [0, 2] and not dropped.meta["missing"].any()


def test_classes_that_are_not_there_have_no_name(small):
    content = as_text([[kind, *"0" * 56] for kind in "31"], ",")
    small("lung-cancer", **{"lung-cancer.data": content + b"\n"})
    lungs = fetch_uci("lung-cancer")
    assert lungs.y.tolist() == [1, 0] and lungs.target_names == ["type 1", "type 3"]


def test_of_several_most_frequent_codes_the_smallest(small):
    content = as_text([["1", *code * 56] for code in "3232?0"], ",")
    small("lung-cancer", **{"lung-cancer.data": content})
    assert (fetch_uci("lung-cancer").X.views[0][4] == 2).all()


def test_comma_too_many(small):
    content = b"11,0,71,0,0.26,9,4.6,14,1,1,name,1,0\n,?,1,77,?,?,?,?,?,2,?,name,2,?\n"
    small("echocardiogram", **{"echocardiogram.data": content})
    heart = fetch_uci("echocardiogram", missing="keep")
    assert heart.y.tolist() == [0, 1] and heart.X.views[0][1, 0] == 77
    assert heart.X.views[0][0].tolist() == [71, 0, 0.26, 9, 4.6, 14, 1]
    assert len(fetch_uci("echocardiogram", target="alive_at_1").y) == 1


@pytest.mark.parametrize(("separator", "end"), [("  ", " \r\n"), (" ", " \n\n"), ("\t", "")])
def test_second_file_of_horses_by_its_values(small, separator, end):
    text = SMALL["horse-colic"].files["horse-colic.test"].decode().split()
    small("horse-colic", **{"horse-colic.test": (separator.join(text) + end).encode()})
    assert fetch_uci("horse-colic").y.tolist() == SMALL["horse-colic"].y


def test_changed_second_file_of_horses_is_refused(small):
    content = SMALL["horse-colic"].files["horse-colic.test"]
    small("horse-colic", **{"horse-colic.test": content.replace(b"2", b"1")})
    with pytest.raises(DatasetCorrupted, match="horse-colic.test has not the values that mvref"):
        fetch_uci("horse-colic")
    assert len(fetch_uci("horse-colic", part="data").y) == 2

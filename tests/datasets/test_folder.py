"""Your own tables: the join, what is left out, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mvref.datasets import load_mfeat, read_folder, read_views

BLOOD = pd.DataFrame({"id": [3, 1, 2], "iron": [30.0, 10.0, 20.0], "zinc": [3, 1, 2]})
SCAN = pd.DataFrame({"id": [4, 2], "size": [0.4, 0.2]})
LABELS = pd.DataFrame({"id": [2, 1, 4, 9], "label": ["b", "a", "a", "b"]})


@pytest.fixture
def folder(tmp_path):
    """Write tables into a folder of their own; the suffix chooses the format."""

    def write(**tables):
        for name, table in tables.items():
            if isinstance(table, tuple):
                table[0].to_parquet(tmp_path / f"{name}.parquet")
            else:
                table.to_csv(tmp_path / f"{name}.csv", index=False)
        return tmp_path

    return write


def test_the_join_is_the_one_by_hand(folder):
    X, ids = read_views(folder(blood=BLOOD, scan=SCAN))
    assert X.names == ["blood", "scan"] and ids.tolist() == [1, 2, 3, 4]
    expected = [[10, 1], [20, 2], [30, 3], [np.nan] * 2], [[np.nan], [0.2], [np.nan], [0.4]]
    for view, values in zip(X.views, expected, strict=True):
        assert_array_equal(view, values)
    assert_array_equal(X.observed, [[1, 0], [1, 1], [1, 0], [0, 1]])


def test_labels_and_who_is_left_out(folder):
    data = read_folder(folder(blood=BLOOD, scan=SCAN, who=LABELS))
    assert data.meta["ids"].tolist() == [1, 2, 4] and data.y.tolist() == ["a", "b", "a"]
    assert data.meta["unlabelled"] == [3] and data.meta["without_views"] == [9]
    assert data.view_names == ["blood", "scan"] and data.target_names == ["a", "b"]
    assert_array_equal(data.X.views[0][:, 0], [10, 20, np.nan])
    assert "1 labelled keys" in data.DESCR


def test_labels_may_stand_in_the_table_of_a_view_and_a_missing_one_is_no_class(folder):
    data = read_folder(folder(blood=BLOOD.assign(label=["x", None, "y"]), scan=SCAN))
    assert data.view_names == ["blood", "scan"] and data.X.widths == [2, 1]
    assert data.y.tolist() == ["y", "x"] and data.meta["unlabelled"] == [1, 4]


def test_parquet_and_csv_say_the_same(folder, tmp_path):
    pytest.importorskip("pyarrow")
    parquet = read_views(folder(blood=(BLOOD,), scan=(SCAN,)))[0]
    (tmp_path / "blood.parquet").unlink()
    (tmp_path / "scan.parquet").unlink()
    csv = read_views(folder(blood=BLOOD, scan=SCAN))[0]
    assert_array_equal(parquet.concat(), csv.concat())


def test_a_data_set_comes_back_as_it_was_written(folder):
    data = load_mfeat()
    rng = np.random.RandomState(0)
    X = data.X[::20].drop_views(0.3, random_state=0)
    tables = {}
    for name, view, seen in zip(X.names, X.views, X.observed.T, strict=True):
        table = pd.DataFrame(view).add_prefix("x").assign(id=np.arange(100))
        tables[name] = table[seen].sample(frac=1, random_state=rng)
    labels = pd.DataFrame({"id": np.arange(100), "digit": data.y[::20]})
    back = read_folder(folder(labels=labels, **tables), target="digit")
    assert back.X.names == sorted(X.names)
    assert_array_equal(back.X.select(X.names).concat(), X.concat())
    assert_array_equal(back.y, data.y[::20])


WRONG = {  # tables, and words of the sentence
    "no table": ({}, "folder|.csv or .parquet|none"),
    "no key": ({"blood": BLOOD}, "key='name'|blood.csv|'iron'"),
    "key twice": ({"blood": pd.concat([BLOOD, BLOOD])}, "blood.csv|'id'|more than once"),
    "empty key": ({"blood": BLOOD.replace({"id": {3: None}})}, "blood.csv|1 rows|'id'"),
    "text": ({"blood": BLOOD.assign(unit="mg")}, "'unit'|blood.csv|'mg'|get_dummies"),
    "one word": ({"blood": BLOOD.assign(dose=["2.8", "n.a.", "1"])}, "'dose'|'n.a.'"),
    "dates": ({"blood": BLOOD.assign(day="2026-01-05")}, "'day'|'2026-01-05'"),
    "no target": ({"blood": BLOOD, "scan": SCAN}, "target='label'|none|'scan'"),
    "two targets": (
        {"blood": BLOOD.assign(label=1), "scan": SCAN.assign(label=0)},
        "target='label'|['blood', 'scan']",
    ),
    "only labels": ({"who": LABELS}, "folder|no table of a view"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_folders(folder, name):
    tables, words = WRONG[name]
    with pytest.raises(ValueError) as error:
        read_folder(folder(**tables), key="name" if name == "no key" else "id")
    for word in words.split("|"):
        assert word in str(error.value)


def test_two_files_of_one_name(folder, tmp_path):
    (tmp_path / "blood.parquet").touch()
    with pytest.raises(ValueError, match="two files of one name"):
        read_views(folder(blood=BLOOD))

"""Your own tables: read right, or refused in a sentence that names the file."""

import gzip
import pickle
import re
import sys
import time
import unicodedata
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.preprocessing import OneHotEncoder

from mvref import MVLSVM, PerView
from mvref.__main__ import main
from mvref.datasets import load_mfeat, read_folder, read_views

BLOOD = "id,iron,zinc\n3,30,3\n1,10,1\n2,20,2\n"
SCAN = "id,size\n4,.4\n2,.2\n"
WHO = "id,label\n2,b\n1,a\n4,a\n9,b\n"


normal = partial(unicodedata.normalize, "NFC")


@pytest.fixture
def folder(tmp_path):
    """Write files, texts or bytes, into a folder of their own."""

    def write(files):
        for name, content in files.items():
            content = content.encode() if isinstance(content, str) else content
            (tmp_path / name).write_bytes(content)
        return tmp_path

    return write


def test_the_join_is_the_one_by_hand(folder, capsys):
    X, ids = read_views(folder({"blood.csv": BLOOD, "scan.csv": SCAN}))
    assert X.names == ["blood", "scan"] and ids.tolist() == ["1", "2", "3", "4"]
    expected = [[10, 1], [20, 2], [30, 3], [np.nan] * 2], [[np.nan], [0.2], [np.nan], [0.4]]
    for view, values in zip(X.views, expected, strict=True):
        assert_array_equal(view, values)
    assert X.feature_names == [["iron", "zinc"], ["size"]]
    assert capsys.readouterr().out.splitlines() == [
        "blood.csv: 3 rows, in 3 of 4 samples; 1 without this view",
        "scan.csv: 2 rows, in 2 of 4 samples; 2 without this view",
    ]


def test_labels_and_who_is_left_out(folder, capsys):
    files = {"blood.csv": BLOOD, "scan.csv": SCAN, "who.csv": WHO}
    data = read_folder(folder(files), verbose=False)
    assert capsys.readouterr().out == ""
    assert data.meta["ids"].tolist() == ["1", "2", "4"] and data.y.tolist() == ["a", "b", "a"]
    assert data.meta["unlabelled"] == ["3"] and data.meta["without_views"] == ["9"]
    assert data.meta["join"][-2] == "left out: 1 without a label, 1 without a view"
    assert data.view_names == ["blood", "scan"] and data.target_names == ["a", "b"]
    assert_array_equal(data.X.views[0][:, 0], [10, 20, np.nan])


def test_keys_that_may_be_one_are_named(folder):
    """Of two views, and of a view and the labels."""
    files = {"blood.csv": "id,iron\n1,1\nA2,2\n099,3\n", "scan.csv": "id,size\n1,1\na2,2\n"}
    with pytest.warns(UserWarning, match="blanks, case or Unicode form only: 'A2' and 'a2'"):
        read_views(folder(files), verbose=False)
    with pytest.warns(UserWarning, match="'099' and '99'; 'A2' and 'a2'"):
        read_folder(folder({"who.csv": "id,label\n1,a\nA2,b\na2,b\n99,a\n"}), verbose=False)


def test_a_data_set_comes_back_as_it_was_written(tmp_path):
    data = load_mfeat()
    rng = np.random.RandomState(0)
    X = data.X[::20].drop_views(0.3, random_state=0)
    for name, view, seen in zip(X.names, X.views, X.observed.T, strict=True):
        table = pd.DataFrame(view).add_prefix("x").assign(id=np.arange(100))[seen]
        table.sample(frac=1, random_state=rng).to_csv(tmp_path / f"{name}.csv", index=False)
    labels = pd.DataFrame({"id": np.arange(100), "digit": data.y[::20]})
    labels.to_csv(tmp_path / "labels.csv", index=False)
    back = read_folder(tmp_path, target="digit", verbose=False)
    assert back.X.names == sorted(X.names)
    assert_array_equal(back.X.select(X.names).concat(), X.concat())
    assert_array_equal(back.y, data.y[::20])


# What can be read, however it was written: files, options, and the column iron of the ids 1, 2, 3.
IRON = [10.0, 20.0, 30.0]
READ = {
    "byte order mark": ({"blood.csv": b"\xef\xbb\xbf" + BLOOD.encode()}, {}, IRON),
    "Windows line ends": ({"blood.csv": BLOOD.replace("\n", "\r\n")}, {}, IRON),
    "no end of line": ({"blood.csv": BLOOD.rstrip()}, {}, IRON),
    "blank lines": ({"blood.csv": BLOOD.replace("\n1", "\n\n1") + "\n"}, {}, IRON),
    "quotes": ({"blood.csv": 'id,iron\n"3","30"\n"1",10\n2,"20"\n'}, {}, IRON),
    "comma in quotes": ({"blood.csv": '"id","iron, mg"\n3,30\n1,10\n2,20\n'}, {}, IRON),
    "line end in quotes": ({"blood.csv": '"id","iron\nmg"\n3,30\n1,10\n2,20\n'}, {}, IRON),
    "capital suffix": ({"blood.CSV": BLOOD}, {}, IRON),
    "tabs": ({"blood.tsv": BLOOD.replace(",", "\t")}, {}, IRON),
    "semicolons": ({"blood.csv": BLOOD.replace(",", ";")}, {"sep": ";"}, IRON),
    "decimal comma": (
        {"blood.csv": "id;iron\n3;30,5\n1;10,5\n2;20,5\n"},
        {"sep": ";", "decimal": ","},
        [10.5, 20.5, 30.5],
    ),
    "latin-1": (
        {"blood.csv": "id,öl\n3,30\n1,10\n2,20\n".encode("latin-1")},
        {"encoding": "latin-1"},
        IRON,
    ),
    "utf-16": ({"blood.csv": BLOOD.encode("utf-16")}, {"encoding": "utf-16"}, IRON),
    "hidden files of macOS": ({"blood.csv": BLOOD, "._blood.csv": b"\x00\x05\xff"}, {}, IRON),
    "other files": ({"blood.csv": BLOOD, "README.md": "text", "x.csv.bak": "a"}, {}, IRON),
    "blanks around keys": ({"blood.csv": "id,iron\n 3,30\n1 ,10\n2,20\n"}, {}, IRON),
    "empty cell": ({"blood.csv": "id,iron\n3,30\n1,\n2,20\n"}, {}, [np.nan, 20.0, 30.0]),
    "NA in a cell": ({"blood.csv": "id,iron\n3,30\n1,NA\n2,20\n"}, {}, [np.nan, 20.0, 30.0]),
    "own mark of a gap": (
        {"blood.csv": "id,iron\n3,30\n1,?\n2,20\n"},
        {"na_values": ["?"]},
        [np.nan, 20.0, 30.0],
    ),
    "true and false": ({"blood.csv": "id,iron\n3,True\n1,False\n2,True\n"}, {}, [0.0, 1.0, 1.0]),
    "packed": ({"blood.csv.gz": gzip.compress(BLOOD.encode())}, {}, IRON),
    ".txt": ({"blood.txt": BLOOD, "README.txt": "how, by whom"}, {"sep": ","}, IRON),
    "converted already": ({"blood.csv": BLOOD, "blood.xlsx": b"x"}, {}, IRON),
    "own mark of one column": (
        {"blood.csv": "id,iron,x\n3,30,?\n1,,?\n2,20,?\n"},
        {"na_values": {"x": "?"}},
        [np.nan, 20.0, 30.0],
    ),
    "exponents": ({"blood.csv": "id,iron\n3,3e1\n1,1E1\n2,+20\n"}, {}, IRON),
}


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read_is_read_right(folder, name):
    files, options, iron = READ[name]
    X, ids = read_views(folder(files), verbose=False, **options)
    assert ids.tolist() == ["1", "2", "3"] and X.names == ["blood"]
    assert_array_equal(X.views[0][:, 0], iron)


KEYS = {  # of two files, and what they become
    "leading zeros": (["007", "008"], ["007", "008"], ["007", "008"]),
    "numbers and words": (["7", "x9"], ["7", "8"], ["7", "8", "x9"]),
    "NA": (["NA", "1"], ["NA", "2"], ["1", "2", "NA"]),
    "numbers in their order": (["10", "9"], ["9", "100"], ["9", "10", "100"]),
    "true": (["True", "2"], ["True", "3"], ["2", "3", "True"]),
    "one letter, two ways": (["A\u030a"], ["\u00c5"], ["\u00c5"]),
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_are_texts(folder, name):
    one, two, expected = KEYS[name]
    files = {
        f: "id,x\n" + "".join(f"{k},1\n" for k in ks)
        for f, ks in zip("ab", (one, two), strict=True)
    }
    X, ids = read_views(folder({f"{f}.csv": text for f, text in files.items()}), verbose=False)
    assert ids.tolist() == expected
    seen = [[k in map(normal, ks) for k in expected] for ks in (one, two)]
    assert_array_equal(X.observed.T, seen)


LABELS = {
    "names that pandas drops": (["None", "NA", "null", "n/a"], ["NA", "None", "n/a", "null"]),
    "whole numbers": (["1", "0", "1", "0"], [0, 1]),
    "numbers": (["1.5", "0", "1.5", "0"], [0.0, 1.5]),
    "numbers and a word": (["1", "0", "x", "0"], ["0", "1", "x"]),
    "an empty one": (["a", "b", "", "b"], ["a", "b"]),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_what_is_written(folder, name):
    labels, classes = LABELS[name]
    text = "id,label,x\n" + "".join(f"{i},{label},{i}\n" for i, label in enumerate(labels))
    data = read_folder(folder({"t.csv": text}), verbose=False)
    assert np.unique(data.y).tolist() == classes and data.target_names == [str(c) for c in classes]
    assert len(data.y) == sum(label != "" for label in labels)


REFUSED = {  # files, and words of the sentence
    "no file": ({}, "has no file of .csv or .tsv or .txt or .parquet, only nothing"),
    "only others": ({"a.png": b"x"}, "only a.png"),
    "packed and torn": ({"a.csv.gz": gzip.compress(BLOOD.encode())[:-9]}, "a.csv.gz is not a comp"),
    "torn Parquet": ({"a.parquet": b"PAR1"}, "a.parquet is not a whole Parquet file"),
    "empty file": ({"blood.csv": ""}, "blood.csv is empty"),
    "header only": ({"blood.csv": "id,iron\n"}, "blood.csv has a header, but no rows"),
    "no key": ({"blood.csv": "ID,iron\n1,2\n"}, "key='id'|blood.csv|['ID', 'iron']"),
    "semicolons": ({"blood.csv": "id;iron\n1;2\n"}, "blood.csv|separated by ';'|sep="),
    "tabs in .csv": ({"blood.csv": "id\tiron\n1\t2\n"}, "blood.csv|separated by '\\t'"),
    "too many fields": ({"blood.csv": "id,iron\n1,2\n3,1,40\n"}, "blood.csv, line 3: 3 fields"),
    "too few fields": ({"blood.csv": "id,iron,zinc\n1,2\n"}, "blood.csv, line 2: 2 fields"),
    "comma at the end": ({"blood.csv": "id,iron\n1,10,\n2,20,\n"}, "line 2|extra separator"),
    "comma in the header": (
        {"blood.csv": "id,iron,\n1,10,\n"},
        "blood.csv, line 1|[3] have no name",
    ),
    "index of to_csv": (
        {"blood.csv": ",id,iron\n0,1,10\n"},
        "[1] have no name|to_csv(index=False)",
    ),
    "written back": ({"blood.csv": "Unnamed: 0,id,iron\n0,1,10\n"}, "have no name|index=False"),
    "column twice": ({"blood.csv": "id,x,x\n1,2,3\n"}, "line 1: several columns|['x']"),
    "key column twice": ({"blood.csv": "id,id,x\n1,2,3\n"}, "several columns|['id']"),
    "key twice": ({"blood.csv": BLOOD + "3,1,1\n"}, "blood.csv has 'id' '3' more than once|[1, 4]"),
    "long table": (
        {"blood.csv": "id,what,value\n1,iron,10\n1,zinc,1\n2,iron,20\n"},
        "pivot(index='id', columns='what', values='value')",
    ),
    "key twice by blanks": ({"blood.csv": BLOOD + " 3,1,1\n"}, "'3' more than once"),
    "empty key": ({"blood.csv": BLOOD + ",1,1\n"}, "blood.csv has 1 rows without 'id'|row 4"),
    "words": ({"blood.csv": "id,unit\n1,mg\n"}, "'unit' of blood.csv|'mg'|text=['unit']"),
    "one word": ({"blood.csv": "id,dose\n1,2.8\n2,few\n"}, "'dose' of blood.csv|'few'"),
    "dates": ({"blood.csv": "id,day\n1,2026-01-05\n"}, "'day' of blood.csv|'2026-01-05'"),
    "decimal comma": ({"blood.csv": 'id,dose\n1,"2,8"\n'}, "'2,8'|decimal=','"),
    "words of all files": (
        {
            "a.csv": "id,day,sex,dose\n1,5.1.2026,f,1\n2,6.1.2026,m,\n",
            "b.csv": "id,crp,note,share\n1,1.1 mg/l,2 of them ill,3%\n2,n.d.,fine,4 %\n3,2mg,,\n",
        },
        "dates in 'day' of a.csv ('5.1.2026'): make|units in 'crp' of b.csv ('1.1 mg/l'), 'share' "
        "of b.csv ('3%'): keep|words in 'sex' of a.csv ('f'), 'note' of b.csv ('2 of them ill'): "
        "if they mean something, name them in text=['sex', 'note']",
    ),
    "latin-1": ({"blood.csv": "id,öl\n1,2\n".encode("latin-1")}, "blood.csv|encoding='latin-1'"),
    "utf-16": ({"blood.csv": BLOOD.encode("utf-16")}, "blood.csv|encoding"),
    "line of blanks": ({"blood.tsv": "id\tx\n1\t2\n \t\n"}, "blood.tsv has a line that contains"),
    "zero bytes": ({"blood.csv": b"\x00\x01\x02\n"}, "blood.csv"),
    "two files of one name": ({"blood.csv": BLOOD, "blood.tsv": ""}, "two files of one name"),
    "disjoint keys": ({"a.csv": "id,x\n001,1\n", "b.csv": "id,y\n1,1\n"}, "a.csv|['001']|['1']"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_certain_is_refused(folder, name):
    files, words = REFUSED[name]
    with pytest.raises(ValueError) as error:
        read_views(folder(files))
    for word in words.split("|"):
        assert word in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "cell, number", [("1.1 mg/l", 1.1), ("-3 °C", -3.0), ("2026-01-05", 9501), ("5/1/2000", 121)]
)
def test_the_line_that_makes_numbers_makes_them(folder, cell, number):
    with pytest.raises(ValueError) as error:
        read_views(folder({"blood.csv": f"id,x\n1,{cell}\n"}))
    line = re.search(r"(?:alone|them), (.*)\.$", str(error.value))[1]
    table = pd.read_csv(folder({}) / "blood.csv")
    assert float(eval(line, {"pd": pd, "table": table})[0]) == number


def test_thousands_of_names_make_no_long_sentence(folder):
    names = [f"g{j}" for j in range(5000)]

    def table(header, cell):
        return ",".join(header) + "\n" + ",".join(cell for _ in header) + "\n"

    X, _ = read_views(folder({"a.csv": table(["id", *names], "1")}), verbose=False)
    for content, options in (
        (table(names, "1"), {}),  # no key
        (table(["id", *names, *names], "1"), {}),  # all twice
        (table(["id", *names], "high"), {}),
        (table(["id", *(f"h{j}" for j in range(5000))], "1"), {"like": X}),
        (table(["id", *names], "1"), {"target": "who"}),
    ):
        read = read_folder if "target" in options else read_views
        with pytest.raises(ValueError, match="and 4,99[01] more") as error:
            read(folder({"a.csv": content}), verbose=False, **options)
        assert len(str(error.value)) < 700


def test_reading_is_linear_in_the_columns_and_hardly_slower_than_pandas(folder):
    """At most three times ``pd.read_csv`` beside it, and in proportion to the columns."""
    rng, spent = np.random.default_rng(0), {}
    for n_columns in (2500, 10_000):
        table = pd.DataFrame(rng.normal(size=(150, n_columns)).round(4)).add_prefix("gene_")
        table.to_csv(folder({}) / "rna.csv", index_label="id")
        X, _ = read_views(folder({}), verbose=False)
        calls = {
            "pandas": partial(pd.read_csv, folder({}) / "rna.csv"),
            "plain": partial(read_views, folder({}), verbose=False),
            "like": partial(read_views, folder({}), verbose=False, like=X),
        }
        for _ in range(3):  # in turn, since a machine is busy at times
            for name, call in calls.items():
                start = time.process_time()
                call()
                seconds = time.process_time() - start
                spent[name, n_columns] = min(seconds, spent.get((name, n_columns), np.inf))
    for name in ("plain", "like"):
        assert spent[name, 2500] <= 3 * spent["pandas", 2500]
        assert spent[name, 10_000] <= 10 * spent[name, 2500]  # quadratic: 16


NO_LABELS = {
    "no target": (
        {"blood.csv": BLOOD},
        "target='label'|0 that have it|'blood.csv': ['iron', 'zinc']",
    ),
    "two targets": (
        {"a.csv": WHO, "blood.csv": "id,x,label\n1,2,a\n"},
        "2 that have it|'a.csv': ['label']",
    ),
    "only labels": ({"who.csv": WHO}, "no table of a view"),
    "empty labels": ({"who.csv": "id,label,x\n1,,2\n"}, "'label' of labels is empty"),
    "labels of others": ({"who.csv": "id,label\n01,a\n", "blood.csv": BLOOD}, "who.csv|['01']"),
    "no folder": (None, "is not a folder"),
    "transposed": (
        {"who.csv": WHO, "rna.csv": "id,1,2\ng1,10,20\ng2,1,2\n"},
        "index_col='id').T.to_csv('rna.csv', index_label='id')",
    ),
}


@pytest.mark.parametrize("name", NO_LABELS)
def test_labels_that_cannot_be_found(folder, tmp_path, name):
    files, words = NO_LABELS[name]
    with pytest.raises(ValueError) as error:
        read_folder(tmp_path / "nowhere" if files is None else folder(files))
    for word in words.split("|"):
        assert word in str(error.value)


def test_words_are_kept_for_an_encoder(folder):
    town = "id,town,age\n1,Ulm,30\n2,Bonn,40\n3,,50\n4,Ulm,\n"
    data = read_folder(
        folder({"who.csv": WHO, "home.csv": town, "blood.csv": BLOOD}), text=["town"], verbose=False
    )
    home = data.X.views[data.X.names.index("home")]
    assert home["town"].tolist()[:2] == ["Ulm", "Bonn"] and home["age"].tolist()[:2] == [30.0, 40.0]
    with pytest.raises(ValueError, match="view 'home' holds words"):
        MVLSVM().fit(data.X, data.y)
    assert PerView({"home": OneHotEncoder()}).fit_transform(data.X).widths[1] > 2


def test_parquet_and_csv_say_the_same(tmp_path):
    pytest.importorskip("pyarrow")
    for name, text in (("blood", BLOOD), ("scan", SCAN)):
        (tmp_path / f"{name}.csv").write_text(text)
        table = pd.read_csv(tmp_path / f"{name}.csv")
        (tmp_path / "parquet").mkdir(exist_ok=True)
        table.to_parquet(tmp_path / "parquet" / f"{name}.parquet")
    csv, ids = read_views(tmp_path, verbose=False)
    parquet, same = read_views(tmp_path / "parquet", verbose=False)
    assert ids.tolist() == same.tolist() and csv.feature_names == parquet.feature_names
    assert_array_equal(csv.concat(), parquet.concat())


def test_new_tables_take_the_form_of_the_old_ones(folder, tmp_path):
    X = read_folder(folder({"blood.csv": BLOOD, "scan.csv": SCAN, "who.csv": WHO}), verbose=False).X
    later = tmp_path / "later"
    later.mkdir()
    (later / "blood.csv").write_text("zinc,id,iron\n5,7,50\n")
    new, ids = read_views(later, like=X, verbose=False)
    assert new.names == X.names and new.feature_names == X.feature_names and ids.tolist() == ["7"]
    assert new.views[0].tolist() == [[50, 5]] and new.observed.tolist() == [[True, False]]
    (later / "blood.csv").write_text("id,iron,gold\n7,50,1\n")
    with pytest.raises(ValueError, match=re.escape("missing ['zinc'], not among them ['gold']")):
        read_views(later, like=X)
    (later / "spit.csv").write_text("id,iron\n7,50\n")
    with pytest.raises(ValueError, match=re.escape("the tables ['spit']")):
        read_views(later, like=X, verbose=False)


def test_what_is_not_read_is_named(folder, capsys):
    (folder({"blood.csv": BLOOD, "who.csv": WHO, "a.md": "", ".b": "", "n.txt": "x"}) / "c").mkdir()
    data = read_folder(folder({}))
    assert data.meta["not_read"] == ["a.md", "c", "n.txt"]
    line = "not read: a.md, c, n.txt (of .txt, what has a column 'id' is read, with sep=)"
    assert capsys.readouterr().out.splitlines()[-1] == data.meta["join"][-1] == line
    (folder({}) / "blood.csv").rename(folder({}) / "rna.csv")
    (folder({}) / "who.csv").unlink()
    with pytest.raises(ValueError, match="like has"):
        read_views(folder({}), like=data.X)
    assert "blood: no table, missing in every sample" in capsys.readouterr().out


KINDS = {  # of other files: their content, from a table
    "pkl": pickle.dumps,
    "feather": lambda table: table.to_feather,
    "xlsx": lambda table: pytest.importorskip("openpyxl") and table.to_excel,
    "h5ad": lambda table: pytest.importorskip("anndata").AnnData(table.set_index("id")).write,
}


@pytest.mark.parametrize("kind", KINDS)
def test_other_kinds_are_refused_with_the_line_that_converts_them(folder, monkeypatch, kind):
    table = pd.DataFrame({"id": ["1", "2", "3"], "iron": IRON})
    path = folder({"scan.csv": SCAN}) / f"blood.{kind}"
    content = KINDS[kind](table)
    path.write_bytes(content) if kind == "pkl" else content(path)
    with pytest.raises(ValueError, match=rf"blood.{kind} in .* Convert it there by") as error:
        read_views(path.parent)
    run_the_line(error, r" by (.*), then move", path.parent, monkeypatch)
    X, _ = read_views(path.parent, verbose=False)
    assert_array_equal(X.views[0][:3, 0], IRON)


def run_the_line(error, where, folder, monkeypatch):
    monkeypatch.chdir(folder)
    exec(re.search(where, str(error.value))[1], {"pd": pd, "anndata": sys.modules.get("anndata")})


@pytest.mark.parametrize("name", ["long table", "transposed"])
def test_the_line_that_mends_a_table_mends_it(folder, monkeypatch, name):
    files = (REFUSED | NO_LABELS)[name][0]
    with pytest.raises(ValueError) as error:
        read_folder(folder(files | {"who.csv": WHO}))
    run_the_line(error, r" by (pd.*) there", folder({}), monkeypatch)
    X = read_folder(folder({}), verbose=False).X
    assert_array_equal(X.views[0][:2], [[10, 1], [20, np.nan if "long" in name else 2]])


WORDS = {  # labels, options, and what the report says of the classes
    "gaps": ("ill,NA,-, ", {}, "classes: {' ': 1, '-': 1, 'NA': 1, 'ill': 1}|na_values=[' ', '-',"),
    "no gaps": ("ill,NA,-, ", {"na_values": ["NA", " ", "-"]}, "classes: {'ill': 1}"),
    "of the labels": ("1,0,NA", {"na_values": {"label": "NA"}}, "classes: {0: 1, 1: 1}"),
    "one class": ("ill, ill,Ill,well", {}, "the classes [' ill', 'Ill', 'ill'] differ by space"),
    "many": (",".join(map(str, range(12))), {}, "9: 1} and 2 more"),
}


@pytest.mark.parametrize("name", WORDS)
def test_the_report_tells_the_classes(folder, name):
    labels, options, words = WORDS[name]
    rows = [f"{i},{label},{i}" for i, label in enumerate(labels.split(","))]
    table = "\n".join(["id,label,x", *rows, ""])
    told = "\n".join(read_folder(folder({"t.csv": table}), verbose=False, **options).meta["join"])
    assert all(word in told for word in words.split("|"))
    assert ("na_values" in told) == (name == "gaps") and ("by space" in told) == (
        name == "one class"
    )


def test_copies_get_a_word(folder):
    files = {"blood.csv": BLOOD, "blood (1).csv": BLOOD, "scan.csv": SCAN, "who.csv": WHO}
    told = read_folder(folder(files), verbose=False).meta["join"]
    assert "blood (1).csv and blood.csv have the same content: is one a copy?" in told


def test_groups_are_no_feature(folder):
    text = "id,label,who,x\n1,a,ann,1\n2,b,bob,2\n3,a,ann,3\n"
    data = read_folder(folder({"t.csv": text}), groups="who", verbose=False)
    assert data.meta["groups"].tolist() == ["ann", "bob", "ann"] and data.X.widths == [1]
    with pytest.raises(
        ValueError, match=re.escape("1 samples have no groups='who', such as ['2']")
    ):
        read_folder(folder({"t.csv": text.replace("bob", "")}), groups="who")
    with pytest.raises(ValueError, match="groups='patient' must be a column of one"):
        read_folder(folder({}), groups="patient", text=["who"])


def test_the_command_line_takes_what_the_files_want(folder, capsys, monkeypatch):
    """And hands on the groups, and an encoder of the words."""
    asked = {}

    def compared(X, y, *_, **more):
        asked.update(more, X=X)
        return SimpleNamespace(report=str)

    monkeypatch.setattr("mvref.compare_methods", compared)
    n = 24
    blood = "".join(f"{i};{i % 2},5;{'a hum' if i % 2 else ''}\n" for i in range(n))
    who = "".join(f"{i};{'äb'[i % 2]};{i // 2}\n" for i in range(n))
    files = {"blood.csv": "id;iron;says\n" + blood, "who.csv": "id;label;pair\n" + who}
    files = {name: text.encode("latin-1") for name, text in files.items()}
    options = ["--sep", ";", "--decimal", ",", "--encoding", "latin-1", "--text", "says"]
    command = ["compare-tables", str(folder(files)), *options]
    with pytest.raises(SystemExit):
        main([*command, "--groups", "nobody"])
    assert "groups='nobody' must be a column" in capsys.readouterr().err
    assert main([*command, "--groups", "pair"]) == 0
    assert "{'b': 12, 'ä': 12}" in capsys.readouterr().out
    assert asked["groups"].tolist() == [str(i // 2) for i in range(n)]
    columns = asked["encode"].fit_transform(asked["X"]).views[0]  # "a" and "hum", then the iron
    assert_array_equal(columns[:, 2], np.arange(n) % 2 + 0.5)
    assert_array_equal(columns[:, :2] > 0, np.tile(np.arange(n)[:, None] % 2, 2))

"""The cheat sheet: its names exist, no method is forgotten; its code runs in test_examples.py.

What it and the messages advise for words and gaps is done on the tables of a folder.
"""

import inspect
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import mvref
from mvref import MVLSVM, MultiView, PerView, PerViewClassifier, compare_methods
from mvref.datasets import read_folder
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


TOOLS = [PerView, TfidfVectorizer, SimpleImputer, StandardScaler, OneHotEncoder]
NOTES = ["pump hums", "pump rattles and drips", "", "hums", "dry", "rattles"] * 5


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A view of one column of words, and one of numbers that lacks some."""
    folder, rows = tmp_path_factory.mktemp("tables"), range(30)
    note = "".join(f"{i},{text}\n" for i, text in enumerate(NOTES))
    sensor = "".join(f"{i},{i % 7 or ''},{i % 3}\n" for i in rows)
    who = "".join(f"{i},{'ab'[i % 2]}\n" for i in rows)
    for name, text in (
        ("note", "n\n" + note),
        ("sensor", "s,t\n" + sensor),
        ("who", "label\n" + who),
    ):
        (folder / f"{name}.csv").write_text("id," + text)
    return read_folder(folder, text=["n"], verbose=False)


def refusal(call, data):
    with pytest.raises(ValueError) as error:
        call(data.X, data.y)
    return str(error.value)


ADVICE = {  # where a PerView is advised
    "cheat sheet": lambda data: TEXT,
    "an estimator": lambda data: refusal(MVLSVM().fit, data),
    "compare_methods": lambda data: refusal(compare_methods, data),
    "gaps": lambda data: refusal(lambda X, y: MVLSVM().fit(X.select("sensor"), y), data),
}


@pytest.mark.parametrize("where", ADVICE)
def test_what_is_advised_works_on_what_a_folder_gives(tables, where):
    lines = re.findall(
        r"PerView\(\{?[^|`{}]*?\)\}?(?:, remainder='passthrough'|, remainder=\"passthrough\")?\)",
        ADVICE[where](tables),
    )
    assert lines
    for line in lines:
        per_view = eval(line, {tool.__name__: tool for tool in TOOLS})
        X = tables.X if "note" in line else tables.X.select("sensor")
        out = per_view.fit_transform(X, tables.y)
        assert len(out) == 30 and set(out.names) <= set(X.names)
        few = np.array([4, 0, 9])  # each row is of its own sample
        for view, same in zip(per_view.transform(X[few]).views, out[few].views, strict=True):
            np.testing.assert_allclose(*(v.toarray() if issparse(v) else v for v in (view, same)))


def test_a_classifier_of_texts_reads_them(tables):
    read, seen = make_pipeline(TfidfVectorizer(), LogisticRegression()), tables.X.observed[:, 0]
    X, y, texts = tables.X[seen], tables.y[seen], np.array(NOTES)[seen]
    stack = PerViewClassifier({"note": read}, remainder="drop").fit(X, y)
    assert (stack.predict(X) == clone(read).fit(texts, y).predict(texts)).all()


def test_rows_that_are_not_those_of_the_samples_are_refused(tables):
    two = MultiView({"note": pd.DataFrame({"remark": NOTES, "more": NOTES})})
    with pytest.raises(ValueError, match="view 'note', TfidfVectorizer: .* 2 rows for 30 samples"):
        PerView(TfidfVectorizer()).fit(two)

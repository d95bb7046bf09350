"""What a column holds, in whatever container it comes: one answer for each kind."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.preprocessing import OneHotEncoder

from mvref import MultiView, PerView, PerViewClassifier
from mvref.core.input import validate_views
from mvref.rivals import PerViewSVM

DAY = datetime(2026, 1, 5, tzinfo=UTC)
COLUMNS = {  # four values of each kind; of those that are no numbers, what is said
    "whole": ([1, 2, 3, 4], None),
    "with gaps": ([1.5, None, 3.0, 4.0], None),
    "Boolean": ([True, False, True, True], None),
    "decimal": ([Decimal("1.5"), Decimal(2), Decimal(3), Decimal(4)], None),
    "gaps": ([None] * 4, None),
    "words": (["Rome", "Oslo", None, "Oslo"], "words"),
    "texts of numbers": (["1.5", "2", None, "-3e1"], "to_numeric"),
    "instants": ([DAY.replace(tzinfo=None)] * 3 + [None], "dates"),
    "days": ([date(2026, 1, day) for day in (5, 6, 7, 8)], "dates"),
    "durations": ([timedelta(days) for days in (1, 2, 3, 4)], "dates"),
    "complex": ([1j, 2.0 + 1j, 3.0 + 0j, 1j], "complex"),
    "NumPy's instants": (list(np.array(["2026-01-05"] * 4, "M8[s]")), "dates"),
}


def polars(values):
    table = {"c": values, "n": [0.5] * 4}
    return pytest.importorskip("polars").DataFrame(table, strict=False)


def pyarrow(values):
    return pytest.importorskip("pyarrow").table({"c": values, "n": [0.5] * 4})


def arrow(values):
    pytest.importorskip("pyarrow")
    return pd.DataFrame({"c": values, "n": 0.5}).convert_dtypes(dtype_backend="pyarrow")


CONTAINERS = {
    "lists": lambda values: [[value, 0.5] for value in values],
    "array": lambda values: np.array([values, values]).T,
    "objects": lambda values: np.array([[value, 0.5] for value in values], dtype=object),
    "pandas": lambda values: pd.DataFrame({"c": values, "n": 0.5}),
    "pandas, objects": lambda values: pd.DataFrame({"c": values, "n": 0.5}, dtype=object),
    "pandas, Arrow": arrow,
    "polars": polars,
    "pyarrow": pyarrow,
}
NAMED = ("pandas", "pandas, objects", "pandas, Arrow", "polars", "pyarrow")
NOT_COMPLEX = ("pandas, Arrow", "polars", "pyarrow")


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_one_answer_for_every_container(container, kind):
    values, told = COLUMNS[kind]
    if kind == "complex" and container in NOT_COMPLEX:
        pytest.skip("which have none")
    if kind == "NumPy's instants" and container in ("polars", "pyarrow"):
        values = [value.item() for value in values]
    table, y = CONTAINERS[container](values), [0, 1, 1, 0]
    A = np.arange(8.0).reshape(4, 2)
    if told in ("dates", "complex"):
        for call in (
            lambda: MultiView({"a": A, "b": table}),
            lambda: PerViewSVM().fit([A, table], y),
            lambda: PerViewSVM(views=[1, 1]).fit(table, y),
            lambda: PerViewClassifier(views=[1, 1]).fit(table, y),
        ):
            with pytest.raises(ValueError, match=told if told == "dates" else "[Cc]omplex"):
                call()
        return
    X = MultiView({"a": A, "b": table})
    assert X.feature_names[1] == (["c", "n"] if container in NAMED else None)
    if told is None:
        numbers = [np.nan if value is None else float(value) for value in values]
        assert_array_equal(X.views[1][:, 0], numbers)
        flat = validate_views(PerViewClassifier(views=[1, 1]), table, reset=True, raw=True)
        assert_array_equal(flat.views[0][:, 0], numbers)
        return
    for call in (
        lambda: PerViewSVM().fit({"a": A, "b": table}, y),
        lambda: PerViewSVM(views=[1, 1]).fit(table, y),
    ):
        with pytest.raises(ValueError, match=told):
            call()
    if container == "pandas, Arrow":  # scikit-learn's encoders refuse pandas.NA
        return
    encoded = PerView({"b": OneHotEncoder()}).fit_transform(X)
    assert encoded.widths[1] >= 4 and set(X.views[1].iloc[[0, 1, 3], 0]) == set(values) - {None}
    words = PerView(OneHotEncoder(), views=[1, 1]).fit_transform(table)
    assert words.widths[0] == len(set(values) - {None})


def test_a_flat_arrow_table_is_scored_by_its_names():
    A = np.arange(8.0).reshape(4, 2)
    frame = pd.DataFrame(A, columns=["c", "n"])
    table = pytest.importorskip("pyarrow").table(frame)
    model = PerViewSVM().fit({"a": frame[["c"]], "b": frame[["n"]]}, [0, 1, 1, 0])
    assert_array_equal(model.decision_function(table), model.decision_function(frame))
    with pytest.raises(ValueError, match="not seen in fit"):
        model.predict(table.rename_columns(["c", "m"]))

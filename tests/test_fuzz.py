"""Hostile data, labels, containers and new samples for every method.

Each call returns finite outputs, or ends in a ValueError or TypeError that mvref or the checks of
scikit-learn raise with a message; and a model that gives all training samples the same score has
warned. A seeded sample of all combinations runs; ``MVREF_FUZZ=all`` runs all of them.
"""

import os
import traceback
import warnings
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

import mvref
from mvref import MultiView
from mvref.core.input import NothingLearntWarning
from tests.literal import changed, toy_views
from tests.test_api import CHEAP, IN_FULL, METHODS

N = 24
(A, B), Y = toy_views(3, m=N, widths=(4, 3))
VIEWS, FLAT = [A, B], np.hstack([A, B])
NAN, NA = np.nan, pd.NA
OURS, THEIRS = Path(mvref.__file__).parent, Path(sklearn.__file__).parent
FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
COLUMNS = list("abcdefg")


def both(function):
    """Return a function that applies `function` to both views."""
    return [function(A), function(B)]


def frame(array, **options):
    """Return a data frame with the columns a, b, ..."""
    return pd.DataFrame(array, columns=COLUMNS[: array.shape[1]], **options)


def nullable(array, dtype="Int64", row=NA):
    """Return a nullable frame of integers with `row` as row 3."""
    table = frame(array.round()).astype(dtype)
    table.loc[3] = row
    return table


def values():
    """Yield numbers of any size, NaN, infinity, constants, in cells, rows, columns and views."""
    for size in (1e300, 1e150, 1e20, 1e8, 1e-6, 1e-8, 1e-20, 1e-150, 1e-300):
        yield f"all times {size:g}", both(lambda view, s=size: view * s)
        yield f"a view times {size:g}", [A * size, B]
        yield f"a column times {size:g}", [A * np.r_[size, 1, 1, 1], B]
        yield f"all plus {size:g}", both(lambda view, s=size: view + s)
    for value in (NAN, np.inf, -np.inf):
        yield f"a cell {value}", [changed(A, (2, 1), value), B]
        yield f"a row {value}", [changed(A, 2, value), B]
        yield f"a row of all views {value}", both(lambda view, v=value: changed(view, 2, v))
        yield f"a column {value}", [changed(A, (slice(None), 1), value), B]
        yield f"a view {value}", [np.full_like(A, value), B]
        yield f"everything {value}", both(lambda view, v=value: np.full_like(view, v))
    yield "no sample complete", [changed(A, slice(0, 12), NAN), changed(B, slice(12, N), NAN)]
    yield "a view of one class", [np.where(Y[:, None], NAN, A), B]
    yield "a view of one sample", [changed(A, slice(1, N), NAN), B]
    for value in (0.0, 1.0, -7.0):
        yield f"a view of {value}", [np.full_like(A, value), B]
        yield f"all views of {value}", both(lambda view, v=value: np.full_like(view, v))
        yield f"a column of {value}", [changed(A, (slice(None), 1), value), B]
    yield "two different rows", both(lambda view: view[Y * 5])
    yield "equal rows", both(lambda view: view[np.zeros(N, dtype=int)])
    yield "every row twice", both(lambda view: view[np.arange(N) // 2])
    yield "the labels", [Y[:, None] * 1.0, Y[:, None] * 1.0]
    yield "a view twice", [A, A]


def shapes():
    """Yield empty, flat, ragged and too many arrays."""
    yield "no views", []
    yield "empty mapping", {}
    yield "empty array", np.empty((0, 0))
    yield "no rows", both(lambda view: view[:0])
    yield "no columns", [A, B[:, :0]]
    yield "one column", [A[:, :1], B[:, :1]]
    yield "one view", [A]
    yield "1-D views", [A[:, 0], B[:, 0]]
    yield "a 1-D view", [A, B[:, 0]]
    yield "1-D array", A[:, 0]
    yield "3-D view", [A, np.zeros((N, 2, 2))]
    yield "3-D array", np.zeros((2, N, 3))
    yield "0-D view", [A, np.array(3.0)]
    yield "ragged view", [A, [[1.0, 2.0]] * 5 + [[1.0]] * (N - 5)]
    yield "ragged rows", [[1.0, 2.0]] * 5 + [[1.0]] * (N - 5)
    yield "other lengths", [A, B[:-1]]
    yield "12 views", [A + v for v in range(12)]
    yield "wide", [np.tile(A, 50), B]
    yield "objects of arrays", np.array([A, B[:, :2], None], dtype=object)


def types():
    """Yield data types of arrays."""
    for dtype in ("bool", "int8", "uint8", "int64", "float16", "float32", "longdouble"):
        yield dtype, both(lambda view, d=dtype: view.astype(d))
    for dtype in ("complex128", "U12", "S12", "datetime64[s]", "timedelta64[s]"):
        yield dtype, [A, B.astype("int64").astype(dtype)]
        yield f"{dtype} in one array", FLAT.astype("int64").astype(dtype)
    structured = np.zeros((N, 3), dtype=[("a", float), ("b", int)])
    yield "structured", [A, structured]
    for told, value in {
        "None": None, "NA": NA, "NaT": pd.NaT, "a text": "x", "a number as text": "1.5",
        "a large integer": 10**400, "a Decimal": Decimal("1.5"), "a Fraction": Fraction(1, 3),
        "a list": [1], "a mapping": {}, "an object": object(), "a boolean": True, "1j": 1j,
    }.items():  # fmt: skip
        objects = A.astype(object)
        objects[2, 1] = value
        yield f"objects with {told}", [objects, B]


def containers():
    """Yield containers of two views, or of one table with both."""
    yield "tuple", (A, B)
    yield "mapping", {"x": A, "y": B}
    yield "mapping of numbers", {0: A, 1: B}
    yield "generator", (view for view in (A, B))
    yield "set", {1, 2}
    yield "None", None
    yield "text", "ab"
    yield "number", 3
    yield "function", len
    yield "nested lists", [A.tolist(), B.tolist()]
    yield "flat list", FLAT.tolist()
    yield "MultiView", MultiView([A, B])
    yield "read-only", both(lambda view: np.frombuffer(view.tobytes()).reshape(view.shape))
    yield "Fortran", both(np.asfortranarray)
    yield "strides", both(lambda view: np.repeat(np.repeat(view, 2, 0), 2, 1)[::2, ::2])
    yield "backwards", both(lambda view: view[::-1].copy()[::-1])
    yield "matrix", both(np.asmatrix)
    yield "flat matrix", np.asmatrix(FLAT)
    for told, mask in {"nothing": False, "a cell": (2, 1), "a row": 2, "all": ...}.items():
        hidden = np.zeros(A.shape, dtype=bool)
        if mask is not False:
            hidden[mask] = True
        yield f"masked, {told}", [np.ma.masked_array(A, hidden), B]
    yield "masked flat", np.ma.masked_array(FLAT, changed(np.zeros(FLAT.shape, bool), (2, 1), True))
    yield "frames", both(frame)
    yield "flat frame", frame(FLAT)
    yield "frames of other rows", [frame(A), frame(B).iloc[::-1]]
    yield "frame and array", [frame(A), B]
    yield "frame of words", [frame(A).assign(a="x"), frame(B)]
    yield "flat frame of words", frame(FLAT).assign(a="x")
    yield "frame of categories", [frame(A).assign(a=pd.Categorical(["u", "v"] * 12)), frame(B)]
    yield "frame of dates", [frame(A).assign(a=pd.Timestamp("2020-01-01")), frame(B)]
    yield "flat frame of dates", frame(FLAT).assign(a=pd.Timestamp("2020-01-01"))
    yield "frame with one name twice", [frame(A).set_axis(list("aabc"), axis=1), B]
    yield "frame with other names", [frame(A).set_axis(["a", 1, 2.0, None], axis=1), B]
    levels = pd.MultiIndex.from_product([[0, 1]] * 2)
    yield "frame with levels", [frame(A).set_axis(levels, axis=1), B]
    yield "series", [pd.Series(A[:, 0]), B]
    yield "one series", pd.Series(A[:, 0])
    yield "texts", [["some words"] * N, B]
    for dtype in ("Int64", "Float64"):
        yield f"nullable {dtype}", both(lambda view, d=dtype: nullable(view, d, 1))
        yield f"nullable {dtype}, a row NA", [nullable(A, dtype), frame(B)]
        yield f"nullable {dtype}, a cell NA", [nullable(A, dtype, [NA, 1, 1, 1]), frame(B)]
        yield f"flat nullable {dtype}", nullable(FLAT, dtype, 1)
    yield "nullable booleans", [frame(A > 0).astype("boolean"), frame(B)]
    yield "sparse frame", [frame(A).astype(pd.SparseDtype(float, 0.0)), frame(B)]
    for name in FORMATS:
        yield f"{name} array", getattr(sparse, f"{name}_array")(FLAT)
        yield f"{name} views", both(getattr(sparse, f"{name}_matrix"))
    yield "sparse and dense", [sparse.csr_array(A), B]
    yield "sparse booleans", both(lambda view: sparse.csr_matrix(view > 0))
    yield "sparse integers", both(lambda view: sparse.csr_matrix(view.round().astype(int)))
    yield "sparse complex", both(lambda view: sparse.csr_matrix(view * 1j))
    yield "sparse with NaN", [sparse.csr_matrix(changed(A, (2, 1), NAN)), B]
    yield "sparse with a gap", [sparse.csr_matrix(changed(A, 2, NAN)), B]
    yield "sparse with infinity", [sparse.csr_matrix(changed(A, (2, 1), np.inf)), B]
    yield "sparse zeros", both(lambda view: sparse.csr_matrix(view.shape))
    yield "sparse, nothing in a view", [sparse.csr_matrix(A.shape), B]
    yield "sparse 1e-300", both(lambda view: sparse.csr_matrix(view * 1e-300))


def labels():
    """Yield labels of any kind, and no labels."""
    words = np.where(Y, "yes", "no")
    yield "None", None
    for value in (0, 3.5, "a", None, NAN, True):
        yield f"only {value!r}", [value] * N
    yield "fractions", A[:, 0]
    yield "floats", Y * 1.0
    yield "two floats", np.where(Y, 0.25, 0.75)
    for told, value in {"NaN": NAN, "inf": np.inf}.items():
        yield f"floats with {told}", changed(Y * 1.0, 2, value)
    for value in (None, NAN, NA, pd.NaT, "x", 2, 2.5, True, (1, 2), b"x", Decimal(1), object()):
        for told, kind in {"words": words, "integers": Y}.items():
            objects = kind.astype(object)
            objects[2] = value
            yield f"objects, {told} and {value!r:.20}", objects
    for kind in (words, Y, Y * 1.0, Y > 0):
        yield f"objects of {kind.dtype}", kind.astype(object)
    for dtype in ("int8", "uint64", "float16", "float32", "bool", "complex", "S4", "datetime64[s]",
                  "timedelta64[s]"):  # fmt: skip
        yield dtype, Y.astype(dtype)
    yield "words", words
    yield "string type", words.astype("T")
    yield "huge", np.where(Y, 2**62, -(2**62))
    yield "zeros of two signs", np.where(Y, 0.0, -0.0)
    yield "list", Y.tolist()
    yield "tuple", tuple(words.tolist())
    yield "series", pd.Series(words)
    yield "series of other rows", pd.Series(Y, index=np.arange(N) + 7)
    for dtype in ("category", "string", "Int64", "boolean", "Float64"):
        yield f"series of {dtype}", pd.Series(words if dtype == "string" else Y).astype(dtype)
        gap = pd.Series(words if dtype == "string" else Y).astype(dtype)
        gap[2] = None
        yield f"series of {dtype} with NA", gap
    yield "frame", pd.DataFrame({"y": Y})
    yield "frame of two", pd.DataFrame({"y": Y, "z": Y})
    yield "column", Y[:, None]
    yield "row", Y[None]
    yield "two columns", np.column_stack([Y, 1 - Y])
    yield from held((Y, words, Y > 0, Y * 1.0, Y.astype("datetime64[s]")))
    yield "3-D", Y[:, None, None]
    yield "sparse", sparse.csr_matrix(Y)
    yield "masked, nothing", np.ma.masked_array(Y, False)
    yield "masked, a label", np.ma.masked_array(Y, np.arange(N) == 2)
    yield "nested", [[label] for label in Y]
    yield "ragged", [[0]] * 12 + [[0, 1]] * (N - 12)
    yield "mapping", dict(enumerate(Y))
    yield "set", set(range(N))
    yield "generator", (label for label in Y)
    yield "text", "ab" * (N // 2)
    yield "number", 1
    yield "empty", []
    yield "one less", Y[:-1]
    yield "one more", np.r_[Y, 1]
    yield "each its own", np.arange(N)
    yield "a lone sample", np.where(np.arange(N) == 3, 2, Y)
    yield "six classes", np.arange(N) % 6
    yield "7 % positives", (np.arange(N) < 2).astype(int)


def held(of):
    """Yield containers with one value per sample, complete and with a missing value."""
    dtypes = ("Int64", "string", "boolean", "Float64", "datetime64[s]")
    for kind, dtype in zip(of, dtypes, strict=True):
        whole = pd.Series(kind).astype(dtype)
        for told, full in (("", whole), (" with a gap", whole.mask(np.arange(N) == 2))):
            name = f"{dtype}{told}"
            yield f"array of {name}", full.array
            yield f"index of {name}", pd.Index(full)
            yield f"categories of {name}", full.astype("category").array
            yield f"frame of {name}", full.to_frame("y")
            yield f"objects of {name}", full.astype(object).to_numpy()
            yield f"list of {name}", full.tolist()
            yield f"two rows of {name}", pd.concat([full, full], axis=1).T
            yield f"short {name}", full[:-1]
            for container, make in ARROWS.items():
                yield f"Arrow's {container} of {name}", make(full)


ARROWS = {}
if find_spec("pyarrow"):
    import pyarrow

    ARROWS = {
        "pandas": lambda values: values.convert_dtypes(dtype_backend="pyarrow"),
        "array": pyarrow.array,
        "chunks": lambda values: pyarrow.chunked_array([pyarrow.array(values)]),
        "dictionary": lambda values: pyarrow.array(values).dictionary_encode(),
    }
if find_spec("polars"):
    import polars

    ARROWS["polars"] = polars.from_pandas


def weights():
    """Yield weights of any kind, of all samples, of some, of one class."""
    ones = np.linspace(0.5, 1.5, N)
    for value in (0.0, 1.0, -1.0, 1e300, 1e-300, NAN, np.inf, None, NA, "x", 1j, True, 2**70):
        yield f"only {value!r}", [value] * N
        yield f"a {value!r}", changed(ones.astype(object), 2, value)
    yield "of one class", Y * 1.0
    yield "of one sample", (np.arange(N) == 3) * 1.0
    yield "of two samples", np.isin(np.arange(N), [Y.argmin(), Y.argmax()]) * 1.0
    for dtype in ("float32", "float16", "longdouble", "int8", "bool", "U9", "S9", "complex"):
        yield dtype, np.ceil(ones).astype(dtype)
    yield from held((Y + 1, np.full(N, "x"), ones > 0, ones, Y.astype("datetime64[s]")))
    for told, value in {
        "number": 2, "fraction": 0.5, "text": "balanced", "mapping": {0: 1.0}, "set": {1, 2},
        "empty": [], "one more": np.ones(N + 1), "column": ones[:, None], "row": ones[None],
        "two columns": np.ones((N, 2)), "3-D": np.ones((N, 1, 1)), "generator": (w for w in ones),
        "sparse": sparse.csr_matrix(ones), "masked": np.ma.masked_array(ones, ones > 1.4),
        "tuple": tuple(ones), "0-D": np.array(2.0), "ragged": [[1.0]] * 12 + [[1.0, 2.0]] * 12,
    }.items():  # fmt: skip
        yield told, value


def ids():
    """Yield frames and labels with the same index, of any type."""
    for told, index in {
        "twice": np.arange(N) // 2, "NaN": np.r_[NAN, np.arange(1.0, N)], "floats": A[:, 0],
        "mixed": [*"abc", *range(N - 3)], "tuples": [(i, "x") for i in range(N)],
        "None": [None, *"abc", *range(N - 4)], "NA": pd.array([NA, *range(1, N)], dtype="Int64"),
        "dates": pd.date_range("2020", periods=N, tz="UTC"), "booleans": Y > 0,
        "categories": pd.Categorical([f"p{i}" for i in range(N)]), "bytes": [b"%d" % i for i in Y],
        "levels": pd.MultiIndex.from_product([range(12), [*"ab"]]), "lists": [str([i]) for i in Y],
        "periods": pd.period_range("2020", periods=N), "intervals": pd.interval_range(0, N),
    }.items():  # fmt: skip
        yield told, ([frame(A, index=index), frame(B, index=index)], pd.Series(Y, index=index))


def new_samples():
    """Yield new samples for a fitted model."""
    yield "one row", both(lambda view: view[:1])
    yield "no rows", both(lambda view: view[:0])
    yield "one sample 1-D", FLAT[0]
    yield "no views", []
    yield "None", None
    yield "text", "ab"
    yield "number", 3
    yield "narrower", [A, B[:, :2]]
    yield "wider", [A, np.hstack([B, B])]
    yield "one view", [A]
    yield "three views", [A, B, B]
    yield "other order", [B, A]
    yield "other names", {"x": A, "y": B}
    yield "views by name", {"view_1": B, "view_0": A}
    yield "flat", FLAT
    yield "flat, narrower", FLAT[:, :5]
    yield "flat list", FLAT.tolist()
    yield "flat frame", frame(FLAT)
    yield "3-D", np.zeros((2, 3, 4))
    yield "1-D views", [A[:, 0], B[:, 0]]
    yield "other lengths", [A, B[:-1]]
    yield "generator", (view for view in (A, B))
    yield "words", [A, B.astype("U9")]
    yield "texts", [["words"] * N, B]
    yield "objects with None", [changed(A.astype(object), (2, 1), None), B]
    yield "complex", [A, B * 1j]
    yield "dates", [A, B.astype("int64").astype("datetime64[s]")]
    yield "booleans", both(lambda view: view > 0)
    yield "masked, a row", [np.ma.masked_array(A, np.arange(N)[:, None] + np.zeros(4) == 2), B]
    for value in (NAN, np.inf):
        yield f"a cell {value}", [changed(A, (2, 1), value), B]
        yield f"a row {value}", [changed(A, 2, value), B]
        yield f"a view {value}", [np.full_like(A, value), B]
        yield f"everything {value}", both(lambda view, v=value: np.full_like(view, v))
    for size in (1e300, 1e20, 1e-20, 1e-300, 0.0):
        yield f"times {size:g}", both(lambda view, s=size: view * s)
    yield "nullable, a row NA", [nullable(A), B]
    yield "sparse", both(sparse.csr_matrix)
    yield "DOK array", sparse.dok_array(FLAT)
    yield "COO array", sparse.coo_array(FLAT)


def cases():
    """Return every case by its name: X and y of fit, and the samples to predict."""
    told = {"values": values, "shapes": shapes, "types": types, "containers": containers}
    for kind, make in told.items():
        yield from ((f"{kind}: {name}", (X, Y, X)) for name, X in make())
    yield from ((f"labels: {name}", (VIEWS, y, VIEWS)) for name, y in labels())
    yield from ((f"ids: {name}", (X, y, X)) for name, (X, y) in ids())
    yield from ((f"weights: {name}", (VIEWS, Y, VIEWS, w)) for name, w in weights())
    yield from ((f"predict: {name}", ([A, B], Y, X)) for name, X in new_samples())


CASES = dict(cases())
IN_ALL = os.environ.get("MVREF_FUZZ") == "all"
# In the sample that always runs: only the first steps of slow or divergent fits.
STEPS = {
    **dict.fromkeys(["MVMClassifier", "MVMRegressor"], {"max_iter": 50}),
    **dict.fromkeys(["FMClassifier", "FMRegressor"], {"max_iter": 200}),
    "MSL": {"tol": 1e-2},
}
ONE_CLASS_IS_FAIR = {"labels: 7 % positives", "weights: a 1e+300", f"weights: a {2**70}"}


def fitted(name, X, y, *weights):
    """Return a cheap fitted model, with `views` if X is one table of both."""
    model = METHODS[name](**CHEAP.get(name, {}) | ({} if IN_ALL else STEPS.get(name, {})))
    if getattr(X, "shape", (0,))[-1] == 7:
        model.set_params(views=[4, 3])
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(X, y, **({"sample_weight": weights[0]} if weights else {}))


@cache
def fitted_to_all(name):
    """Return the fitted model for all new samples."""
    return fitted(name, VIEWS, Y)


def trouble(name, case):
    """Describe what is wrong with the result of a case; "" if nothing is."""
    X, y, new, *w = CASES[case]
    if any(hasattr(given, "send") for given in CASES[case]):  # can be iterated once
        X, y, new, *w = dict(cases())[case]
    if w and not has_fit_parameter(METHODS[name], "sample_weight"):
        return ""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model = fitted_to_all(name) if case[:7] == "predict" else fitted(name, X, y, *w)
            if not hasattr(model, "predict"):
                model.transform(new)
                return ""
            predicted = model.predict(new)
            scores = model.decision_function(new) if is_classifier(model) else predicted
        except (ValueError, TypeError) as error:
            return refusal(error)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    if not np.isfinite(scores).all():
        return "scores are not finite"
    warned = any(issubclass(w.category, NothingLearntWarning) for w in said)
    constant = len(predicted) > 1 and (predicted == predicted[0]).all()
    rare = case in ONE_CLASS_IS_FAIR
    unwarned = constant and new is X and not warned and not rare
    return "constant and no warning" if unwarned else ""


def refusal(error):
    """Describe what is wrong with an error: the place where it was raised, or its message."""
    files = [Path(step.filename) for step in traceback.extract_tb(error.__traceback__)]
    last = [file for file in files if OURS in file.parents or THEIRS in file.parents][-1]
    theirs = THEIRS / "utils" in last.parents or last == THEIRS / "base.py"
    ours = OURS in last.parents and files[-1] == last and isinstance(error, ValueError)
    if not theirs and not ours:
        return f"raised in {files[-1]}: {type(error).__name__}: {error}"
    return "" if len(str(error).split()) > 3 else f"no sentence: {type(error).__name__}: {error}"


def share_of(name, case):
    """Return the probability to run a case: numbers reach all methods, forms only shared code."""
    if name in IN_FULL:
        return 1.0
    return 0.3 if case.startswith(("values", "predict")) else 0.1


@pytest.mark.parametrize("name", METHODS)
def test_every_case_ends_well_or_in_a_sentence(name):
    chosen = list(CASES)
    if not IN_ALL:
        rng = np.random.default_rng(list(METHODS).index(name))
        chosen = [case for case in CASES if rng.random() < share_of(name, case)]
    told = {case: trouble(name, case) for case in chosen}
    assert not {case: text for case, text in told.items() if text}

"""Wrong calls and the sentence a user gets for each.

Every row of the table is a call and fragments that its message must contain: the name of the
argument and what was given. The exception is a plain ValueError, for whatever reason the call
failed inside; only predicting before fitting is a NotFittedError.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mvref import (
    KMHKS,
    MVLSVM,
    MVNAKMHKS,
    MVPO,
    NAKMHKS,
    LandmarkProjection,
    MultiView,
    MVMClassifier,
    MVMRegressor,
    MwMvC2,
    PerView,
)
from mvref.mvl_svm import impute
from mvref.mwmvc2.weights import learn_weights
from mvref.rivals import (
    CAPO,
    L3SVM,
    MSL,
    MVML,
    MVMV,
    MVWAB,
    SMS,
    SVM2K,
    CoLabeling,
    Concat,
    FMClassifier,
    FMRegressor,
    FSMulti,
    Fusion,
    LaplacianCompletion,
    Mono,
    Mumbo,
    PerViewSVM,
    RBoostSH,
    STMClassifier,
    SVMPerf,
)
from tests.literal import toy_views

NAN = np.nan
(A, B), Y = toy_views(0, m=40, widths=(3, 4))
X = MultiView([A, B])
FLAT = np.hstack([A, B])
FRAME = pd.DataFrame(FLAT, columns=list("abcdefg"))
GONE = np.full((40, 4), NAN)
STUMP = DecisionTreeClassifier(max_depth=1)
DISTANCES = np.abs(A[:, [0]] - A[:, 0])
FITTED = MVLSVM(5, random_state=0).fit(X, Y)
PHI, P = np.array([[1.0, NAN, NAN, 1.0], [0.5, 1.0, 0.2, 0.3]]), np.eye(4)[:2]


class Case(NamedTuple):
    """A wrong call and what its message must say."""

    call: Callable
    fragments: tuple


def case(name, call, *fragments):
    return pytest.param(Case(call, fragments), id=name)


def changed(array, index, value):
    """Return a copy of the array with one entry changed."""
    array = array.copy()
    array[index] = value
    return array


def one_row_without_views():
    return [changed(A, 3, NAN), changed(B, 3, NAN)]


def fit(X=X, y=Y, **parameters):
    """A call of MVLSVM(**parameters).fit(X, y)."""
    return lambda: MVLSVM(**parameters).fit(X, y)


def mwmvc2(X=X, y=Y, **parameters):
    """A call of MwMvC2(**parameters).fit(X, y)."""
    return lambda: MwMvC2(**parameters).fit(X, y)


def rival(method, X=X, y=Y, **parameters):
    """A call of method(**parameters).fit(X, y)."""
    return lambda: method(**parameters).fit(X, y)


def predict_of(method, new):
    """A call of predict(new) after a fit on X, Y."""
    return lambda: method().fit(X, Y).predict(new)


def project(X=X, **parameters):
    """A call of LandmarkProjection(**parameters).fit(X)."""
    return lambda: LandmarkProjection(**parameters).fit(X)


MULTIVIEW = [
    case("no views", lambda: MultiView([]), "views", "empty"),
    case("None", lambda: MultiView(None), "views", "NoneType"),
    case("one array", lambda: MultiView(A), "views", "ndarray", "from_array"),
    case("one frame", lambda: MultiView(FRAME), "views", "DataFrame", "from_array"),
    case("a string", lambda: MultiView("ab"), "view"),
    case("wrong lengths", lambda: MultiView([A, B[:-1]]), "samples", "40", "39"),
    case("1-D view", lambda: MultiView([A, Y]), "'view_1'", "2-D", "1 dim"),
    case("3-D view", lambda: MultiView([A, np.zeros((40, 2, 2))]), "'view_1'", "2-D", "3 dim"),
    case("no features", lambda: MultiView([A, A[:, :0]]), "'view_1'", "no features"),
    case("words", lambda: MultiView({"sound": A, "text": [["x"]] * 40}), "'text'", "numbers"),
    case("complex numbers", lambda: MultiView([A, B * 1j]), "'view_1'", "complex"),
    case("ragged view", lambda: MultiView([[[1, 2], [3]]]), "'view_0'", "numbers"),
    case("one name for two", lambda: MultiView([A, B], names=["a"]), "names", "2", "['a']"),
    case("overlapping names", lambda: MultiView([A, B], names=["a", "a"]), "names", "['a', 'a']"),
    case("names no list", lambda: MultiView([A, B], names=3), "names", "3"),
    case(
        "overlapping names of a mapping",
        lambda: MultiView({1: A, "1": B}),
        "names",
        "['1', '1']",
    ),
    case(
        "observed transposed",
        lambda: MultiView([A, B], observed=np.ones((2, 40), dtype=bool)),
        "observed",
        "(40, 2)",
        "(2, 40)",
    ),
    case(
        "observed of numbers",
        lambda: MultiView([A, B], observed=np.ones((40, 2))),
        "observed",
        "bool",
        "float64",
    ),
    case(
        "observed ragged",
        lambda: MultiView([A, B], observed=[[True], [True, False]]),
        "observed",
    ),
    case(
        "observed but NaN",
        lambda: MultiView([A, changed(B, 7, NAN)], observed=np.ones((40, 2), dtype=bool)),
        "observed",
        "sample 7",
        "NaN",
    ),
    case("select an unknown name", lambda: X.select("sound"), "'sound'", "view_0"),
    case("select a far position", lambda: X.select([0, 5]), "5", "view_0"),
    case("select nothing", lambda: X.select([]), "select", "at least one"),
    case("select None", lambda: X.select(None), "None", "view"),
    case("select a fraction", lambda: X.select(0.5), "0.5", "view"),
    case("fraction negative", lambda: X.drop_views(-0.5), "fraction", "-0.5"),
    case("fraction slightly negative", lambda: X.drop_views(-0.001), "fraction", "-0.001"),
    case("fraction too large", lambda: X.drop_views(0.6), "fraction", "0.5", "0.6"),
    case("fraction NaN", lambda: X.drop_views(NAN), "fraction", "nan"),
    case("fraction a word", lambda: X.drop_views("half"), "fraction", "'half'"),
    case("fraction None", lambda: X.drop_views(None), "fraction", "None"),
    case(
        "frames of other rows",
        lambda: MultiView([FRAME, FRAME.iloc[::-1]]),
        "views",
        "ind",
    ),
]

CUTS = [
    case("widths too small", lambda: MultiView.from_array(FLAT, [3, 3]), "[3, 3]", "6", "7"),
    case("width zero", lambda: MultiView.from_array(FLAT, [0, 7]), "[0, 7]", "at least 1"),
    case("width negative", lambda: MultiView.from_array(FLAT, [-1, 8]), "[-1, 8]", "at least 1"),
    case("widths as floats", lambda: MultiView.from_array(FLAT, [3.0, 4.0]), "views", "3.0"),
    case("width and slice", lambda: MultiView.from_array(FLAT, [3, slice(3, 7)]), "views", "3"),
    case("an entry None", lambda: MultiView.from_array(FLAT, [None, [1]]), "views", "None"),
    case("no entries", lambda: MultiView.from_array(FLAT, []), "views", "[]"),
    case("one number", lambda: MultiView.from_array(FLAT, 7), "views", "7"),
    case("a set", lambda: MultiView.from_array(FLAT, {3, 4}), "views", "{3, 4}"),
    case("empty slice", lambda: MultiView.from_array(FLAT, [slice(9, 12)]), "slice(9, 12", "7"),
    case("column too far", lambda: MultiView.from_array(FLAT, [[0, 7], [1]]), "[0, 7]", "7"),
    case("negative column", lambda: MultiView.from_array(FLAT, [[-1], [1]]), "[-1]", "0 to 6"),
    case("unknown column", lambda: MultiView.from_array(FRAME, [["a", "z"]]), "views", "['z']"),
    case("names without a frame", lambda: MultiView.from_array(FLAT, [["a"]]), "views", "['a']"),
    case("1-D array", lambda: MultiView.from_array(Y, [1]), "X", "2-D", "1 dim"),
    case("views of other size", fit(views=[3, 3, 1]), "3 views", "2"),
    case("views of other widths", fit(views=[4, 3]), "views", "[4, 3]", "[3, 4]"),
    case("a number beside a table", fit(views=2), "views", "2"),
    case("a number beside an array", fit(FLAT, views=2), "views", "2"),
    case("widths in fit", fit(FLAT, views=[3, 3]), "views", "[3, 3]", "7"),
    case("unknown column in fit", fit(FRAME, views=[["a"], ["z"]]), "views", "['z']"),
]

VALUES = [
    case("NaN in half a row", fit([changed(A, (2, 1), NAN), B]), "NaN", "'view_0'", "1", "row"),
    case("NaN in half a row, flat", fit(changed(FLAT, (2, 5), NAN), views=[3, 4]), "NaN", "view_1"),
    case("NaN without views", fit(changed(FLAT, (2, 5), NAN)), "NaN", "X"),
    case("infinite", fit([A, changed(B, (0, 0), np.inf)]), "infinity", "'view_1'"),
    case("minus infinite, CSR", fit([sparse.csr_matrix(changed(A, 0, -np.inf))]), "infinity"),
    case("infinite, flat", fit(changed(FLAT, (0, 6), np.inf), views=[3, 4]), "infinity"),
    case("empty list", fit([]), "views", "empty"),
    case("empty mapping", fit({}), "views", "empty"),
    case("no rows", fit([A[:0], B[:0]], Y[:0]), "0 sample"),
    case("2-D and 1-D views", fit([A, Y]), "'view_1'", "2-D"),
    case("3-D view in fit", fit([A, np.zeros((40, 2, 2))]), "'view_1'", "2-D", "3 dim"),
    case("3-D array", fit(np.zeros((2, 40, 3))), "array with dim 3"),
    case("views of other lengths", fit([A, B[:-1]]), "samples", "40", "39"),
    case("no sample has a view", fit(one_row_without_views()), "1 sample", "no view", "row 3"),
    case("a view nobody has", lambda: PerView(StandardScaler()).fit([A, GONE]), "'view_1'"),
]

TARGETS = [
    case("y None", fit(y=None), "y", "None"),
    case("y shorter", fit(y=Y[:-1]), "y ", "39", "40"),
    case("y one class", fit(y=np.full(40, 3)), "y", "one class", "3"),
    case("y one word", fit(y=["yes"] * 40), "y", "one class", "'yes'"),
    case("y continuous", fit(y=A[:, 0]), "label", "continuous"),
    case("y with NaN", fit(y=np.where(Y, NAN, 1.0)), "y", "NaN"),
    case("y with None", fit(y=np.where(Y, None, "yes")), "y", "None"),
    case("y of words and NaN", fit(y=np.where(Y, np.array(NAN, dtype=object), "yes")), "y", "nan"),
    case("y of words and numbers", fit(y=np.where(Y, np.array(1, dtype=object), "b")), "y", "str"),
    case("y of two columns", fit(y=np.column_stack([Y, Y])), "y", "(40, 2)"),
    case("y shorter, PerViewSVM", lambda: PerViewSVM().fit(X, Y[:-1]), "y ", "39", "40"),
    case("y shorter, PerView", lambda: PerView(StandardScaler()).fit(X, Y[:-1]), "y ", "39", "40"),
    case("y shorter, latent", lambda: MVLSVM().fit_latent(A, Y[:-1]), "y ", "39", "40"),
]

LANDMARKS = [
    case("L zero", project(n_landmarks=0), "n_landmarks", ">= 1", "0"),
    case("L negative", fit(n_landmarks=-3), "n_landmarks", ">= 1", "-3"),
    case("L 2.5", project(n_landmarks=2.5), "n_landmarks", "integer", "2.5"),
    case("L a word", project(n_landmarks="all"), "n_landmarks", "'auto'", "'all'"),
    case("L None", project(n_landmarks=None), "n_landmarks", "'auto'", "None"),
    case("L too large", project(n_landmarks=41), "n_landmarks", "41", "40 of 40"),
    case(
        "L more than complete",
        project(X=[changed(A, slice(0, 30), NAN), B], n_landmarks=11),
        "n_landmarks",
        "11",
        "10 of 40",
    ),
    case(
        "no complete row",
        project(X=[changed(A, slice(0, 20), NAN), changed(B, slice(20, 40), NAN)]),
        "no sample is complete",
    ),
    case("landmarks unknown", project(landmarks="random"), "landmarks", "'random'", "per_view"),
    case("landmarks twice", project(landmarks=[1, 1]), "landmarks", "different", "[1, 1]"),
    case("landmarks empty", project(landmarks=[]), "landmarks", "[]"),
    case("landmarks too far", project(landmarks=[0, 40]), "landmarks", "40", "0 to 39"),
    case("landmarks by mask", project(landmarks=np.ones(40, dtype=bool)), "landmarks"),
    case(
        "landmark with a gap", project([changed(A, 3, NAN), B], landmarks=[3]), "landmarks", "row 3"
    ),
    case("n_selected too large", fit(n_landmarks=5, n_selected=6), "n_selected", "5", "6"),
    case("n_selected zero", fit(n_landmarks=5, n_selected=0), "n_selected", ">= 1", "0"),
    case("ridge negative", project(ridge=-1), "ridge", ">= 0", "-1"),
    case("ridge a word", project(ridge="small"), "ridge", "'small'"),
    case("clip reversed", project(clip=(1, 0)), "clip", "(1, 0)"),
    case("clip one number", project(clip=0.5), "clip", "0.5"),
    case("clip half open", project(clip=(None, 1)), "clip", "(None, 1)"),
    case("clip words", project(clip=("a", "b")), "clip", "('a', 'b')"),
    case("clip NaN", project(clip=(NAN, 1)), "clip", "nan"),
    case("no_view unknown", project(no_view="zero"), "no_view", "'zero'", "mean"),
]

KERNELS = [
    case("kernel unknown", project(kernel="linear"), "kernel", "'linear'", "rbf"),
    case("kernel None", fit(kernel=None), "kernel", "None", "rbf"),
    case("one kernel of two", project(kernel=["rbf"]), "kernel", "1", "2 views"),
    case("second kernel unknown", project(kernel=["rbf", "cosine"]), "kernel", "'cosine'"),
    case("gamma negative", project(gamma=-1.0), "gamma", "> 0", "-1.0"),
    case("gamma zero", fit(gamma=0), "gamma", "> 0", "0"),
    case("gamma NaN", fit(gamma=NAN), "gamma", "nan"),
    case("gamma a word", project(gamma="scale"), "gamma", "'scale'", "'mean'"),
    case("gamma list too short", project(gamma=[1.0]), "gamma", "1", "2 views"),
    case("gamma mean of features", project(gamma="mean"), "gamma='mean'", "precomputed", "rbf"),
    case("distances negative", project([-DISTANCES], kernel="precomputed"), "precomputed", "neg"),
    case(
        "distances without zero",
        project([DISTANCES + 1], kernel="precomputed"),
        "precomputed",
        "zero",
        "row 0",
    ),
    case(
        "distances to nobody",
        project([np.zeros((40, 40))], kernel="precomputed"),
        "gamma",
        "zero",
    ),
    case(
        "negative new distances",
        lambda: (
            LandmarkProjection(kernel="precomputed").fit([DISTANCES]).transform([-DISTANCES - 1])
        ),
        "precomputed",
        "neg",
    ),
    case("gram not square", project(kernel="gram"), "gram", "square", "(40, 3)"),
    case(
        "callable of wrong shape",
        project(kernel=lambda a, b: np.ones(3)),
        "kernel",
        "(40, 40)",
        "(3,)",
    ),
    case(
        "callable with NaN",
        project(kernel=lambda a, b: np.full((len(a), len(b)), NAN)),
        "kernel",
        "finite",
        "1600",
    ),
    case("callable without value", project(kernel=lambda a, b: None), "kernel", "(40, 40)"),
    case("callable with words", project(kernel=lambda a, b: "x"), "kernel", "'x'"),
]

SVM = [
    case("c negative", fit(c=-1), "c ", "> 0", "-1"),
    case("c zero", fit(c=0.0), "c ", "> 0", "0.0"),
    case("c NaN", fit(c=NAN), "c ", "nan"),
    case("c infinite", fit(c=np.inf), "c ", "inf"),
    case("c a word", fit(c="1"), "c ", "'1'"),
    case("c negative, latent", lambda: MVLSVM(c=-1.0).fit_latent(A, Y), "c ", "> 0", "-1.0"),
    case("loss unknown", fit(loss="logistic"), "loss", "'logistic'", "squared_hinge"),
    case("solver unknown", fit(solver="libsvm"), "solver", "'libsvm'", "liblinear"),
    case("liblinear with hinge", fit(solver="liblinear"), "solver='liblinear'", "squared_hinge"),
    case("tol zero", fit(tol=0), "tol", "> 0", "0"),
    case("max_iter 0", fit(max_iter=0), "max_iter", ">= 1", "0"),
    case("max_iter 1.5", fit(max_iter=1.5), "max_iter", "integer", "1.5"),
    case("scaling zero", fit(intercept_scaling=0), "intercept_scaling", "> 0", "0"),
    case("random_state a word", fit(random_state="a"), "'a'", "seed"),
    case("latent of lists", lambda: MVLSVM().fit_latent(Y, Y), "Phi", "2-D"),
    case("latent with NaN", lambda: MVLSVM().fit_latent(changed(A, 0, NAN), Y), "Phi", "NaN"),
    case("latent m zero", lambda: MVLSVM().fit_latent(A, Y, m=0), "m ", "0"),
]

AFTER_FIT = [
    case("predict, other widths", lambda: FITTED.predict([A, B[:, :3]]), "[3, 3]", "[3, 4]"),
    case("predict, fewer views", lambda: FITTED.predict([A]), "1 view", "2 views"),
    case("predict, more views", lambda: FITTED.predict([A, B, B]), "3 views", "2 views"),
    case(
        "predict, flat of other width",
        lambda: FITTED.predict(FLAT[:, :6]),
        "6 features",
        "7 features",
    ),
    case(
        "predict, infinite",
        lambda: FITTED.predict([changed(A, 0, np.inf), B]),
        "infinity",
        "'view_0'",
    ),
    case(
        "predict, NaN in half a row",
        lambda: FITTED.predict([changed(A, (0, 0), NAN), B]),
        "NaN",
        "'view_0'",
    ),
    case("predict, no view", lambda: FITTED.predict(one_row_without_views()), "1 sample", "row 3"),
    case(
        "no view, projection",
        lambda: FITTED.projection_.transform(one_row_without_views()),
        "row 3",
        "no_view",
    ),
    case(
        "PerView, other widths",
        lambda: PerView(StandardScaler()).fit(X).transform([A, B[:, :3]]),
        "[3, 3]",
        "[3, 4]",
    ),
    case(
        "PerViewSVM, no view",
        lambda: PerViewSVM().fit(X, Y).predict(one_row_without_views()),
        "1 sample",
        "row 3",
    ),
    case(
        "LaplacianCompletion, other widths",
        lambda: LaplacianCompletion().fit(X).transform([A, B[:, :3]]),
        "[3, 3]",
        "[3, 4]",
    ),
]

IMPUTE = [
    case("impute, a row without anything", lambda: impute(np.full((2, 4), NAN), P), "row 0"),
    case("impute, ridge negative", lambda: impute(PHI, P, ridge=-1), "ridge", "-1"),
    case("impute, ridge a word", lambda: impute(PHI, P, ridge="a"), "ridge", "'a'"),
    case("impute, P too narrow", lambda: impute(PHI, np.eye(3)), "P ", "3", "4"),
    case("impute, P too wide", lambda: impute(PHI, np.eye(6)), "P ", "6", "4"),
    case("impute, P with NaN", lambda: impute(PHI, changed(P, (0, 1), NAN)), "P ", "NaN"),
    case("impute, Phi 1-D", lambda: impute(PHI[0], P), "Phi", "2-D"),
    case(
        "impute, Phi infinite", lambda: impute(changed(PHI, (0, 0), np.inf), P), "Phi", "infinity"
    ),
]

OTHERS = [
    case("PerView, one for two", lambda: PerView([StandardScaler()]).fit(X), "transformer", "1"),
    case("PerView, other names", lambda: PerView({"q": None}).fit(X), "transformer", "['q']"),
    case("PerView, a word", lambda: PerView("drop").fit(X), "transformer", "'drop'"),
    case("PerView, a number", lambda: PerView(3).fit(X), "transformer", "3"),
    case("PerView, a class", lambda: PerView(StandardScaler).fit(X), "transformer", "class"),
    case("PerViewSVM, C negative", lambda: PerViewSVM(C=-1).fit(X, Y), "C ", "> 0", "-1"),
    case("PerViewSVM, C NaN", lambda: PerViewSVM(C=NAN).fit(X, Y), "C ", "nan"),
    case(
        "PerViewSVM, ties unknown",
        lambda: PerViewSVM(ties="first").fit(X, Y),
        "ties",
        "'first'",
        "score",
    ),
    case(
        "PerViewSVM, kernel unknown",
        lambda: PerViewSVM(kernel="poly").fit(X, Y),
        "kernel",
        "'poly'",
    ),
    case(
        "PerViewSVM, gamma list too short",
        lambda: PerViewSVM(gamma=[1.0]).fit(X, Y),
        "gamma",
        "1",
        "2 views",
    ),
    case(
        "PerViewSVM, a view of one class",
        lambda: PerViewSVM().fit([np.where(Y[:, None], NAN, A), B], Y),
        "'view_0'",
        "one class",
    ),
    case(
        "reference unknown",
        lambda: LaplacianCompletion(reference="sound").fit(X),
        "reference",
        "'sound'",
        "view_0",
    ),
    case("reference far", lambda: LaplacianCompletion(reference=2).fit(X), "reference", "2"),
    case("reference None", lambda: LaplacianCompletion(reference=None).fit(X), "reference", "None"),
    case("reference 0.5", lambda: LaplacianCompletion(reference=0.5).fit(X), "reference", "0.5"),
    case(
        "two references",
        lambda: LaplacianCompletion(reference=[0, 1]).fit(X),
        "reference",
        "[0, 1]",
    ),
    case(
        "LaplacianCompletion, kernel unknown",
        lambda: LaplacianCompletion(kernel="poly").fit(X),
        "kernel",
        "'poly'",
    ),
    case(
        "LaplacianCompletion, a view nobody has",
        lambda: LaplacianCompletion().fit([A, GONE]),
        "view",
        "in none",
        "'view_1'",
    ),
    case(
        "nobody has both views",
        lambda: LaplacianCompletion(reference=0).fit_transform(
            [changed(A, slice(0, 20), NAN), changed(B, slice(20, 40), NAN)]
        ),
        "reference",
        "'view_1'",
    ),
]

VOTES = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])

MWMVC2 = [
    case("voters unknown", mwmvc2(voters="tree"), "voters", "'tree'", "random_trees"),
    case("voters None", mwmvc2(voters=None), "voters", "None", "list"),
    case("voters empty", mwmvc2(voters=[]), "voters", "[]", "list"),
    case("one voter, no list", mwmvc2(voters=STUMP), "voters", "list", "DecisionTreeClassifier"),
    case("voters by name", mwmvc2(voters={"a": STUMP}), "voters", "list", "'a'"),
    case("a voter is a class", mwmvc2(voters=[type(STUMP)]), "voters[0]", "classifier"),
    case("a voter is a number", mwmvc2(voters=[STUMP, 3]), "voters[1]", "3"),
    case("a voter regresses", mwmvc2(voters=[Ridge()]), "voters[0]", "Ridge()"),
    case("T negative", mwmvc2(max_iter=-1), "max_iter", ">= 0", "-1"),
    case("T 1.5", mwmvc2(max_iter=1.5), "max_iter", "integer", "1.5"),
    case("T None", mwmvc2(max_iter=None), "max_iter", "None"),
    case("update unknown", mwmvc2(update="printed"), "update", "'printed'", "paper"),
    case("update None", mwmvc2(update=None), "update", "None", "monotone"),
    case("step a number", mwmvc2(step=1.0), "step", "1.0", "collins"),
    case("rho_step unknown", mwmvc2(rho_step="lp"), "rho_step", "'lp'", "exact"),
    case("smoothing negative", mwmvc2(smoothing=-0.1), "smoothing", ">= 0", "-0.1"),
    case("smoothing NaN", mwmvc2(smoothing=NAN), "smoothing", "nan"),
    case("smoothing infinite", mwmvc2(smoothing=np.inf), "smoothing", "inf"),
    case("smoothing a word", mwmvc2(smoothing="small"), "smoothing", "'small'", "'auto'"),
    case("smoothing None", mwmvc2(smoothing=None), "smoothing", "None"),
    case(
        "no smoothing and no errors",
        mwmvc2(voters=[DecisionTreeClassifier()], smoothing=0),
        "smoothing",
        "> 0",
        "view 0",
    ),
    case("ties unknown, MwMvC2", mwmvc2(ties="first"), "ties", "'first'", "largest"),
    case("ties None, MwMvC2", mwmvc2(ties=None), "ties", "None", "random"),
    case("n_jobs a word", mwmvc2(n_jobs="all"), "n_jobs"),
    case("n_jobs zero", mwmvc2(n_jobs=0), "n_jobs", "0"),
    case("random_state a word, MwMvC2", mwmvc2(random_state="a"), "'a'", "seed"),
    case("MwMvC2, y shorter", mwmvc2(y=Y[:-1]), "y ", "39", "40"),
    case("MwMvC2, y one class", mwmvc2(y=np.full(40, 3)), "y", "one class", "3"),
    case("MwMvC2, no view", mwmvc2(one_row_without_views()), "1 sample", "no view", "row 3"),
    case(
        "MwMvC2, a view of one class",
        mwmvc2([np.where(Y[:, None], NAN, A), B]),
        "'view_0'",
        "one class",
    ),
    case("MwMvC2, a view nobody has", mwmvc2([A, GONE]), "'view_1'", "one class"),
    case("MwMvC2, other widths", mwmvc2(views=[4, 3]), "views", "[4, 3]", "[3, 4]"),
    case(
        "MwMvC2, predict without a view",
        lambda: MwMvC2().fit(X, Y).predict(one_row_without_views()),
        "1 sample",
        "row 3",
    ),
    case(
        "MwMvC2, predict other widths",
        lambda: MwMvC2().fit(X, Y).predict([A, B[:, :3]]),
        "[3, 3]",
        "[3, 4]",
    ),
    case("tables None", lambda: learn_weights(None), "Ms", "list"),
    case("no tables", lambda: learn_weights([]), "Ms", "[]"),
    case("one table, no list", lambda: learn_weights(VOTES), "Ms", "2-D", "(2,)"),
    case("tables of words", lambda: learn_weights([[["a"]]]), "Ms", "numbers"),
    case("a table ragged", lambda: learn_weights([[[1, 1], [1]]]), "Ms", "2-D"),
    case("tables, other rows", lambda: learn_weights([VOTES, VOTES[:2]]), "Ms", "(3, 2)", "(2, 2)"),
    case("a table without voters", lambda: learn_weights([VOTES[:, :0]]), "Ms", "(3, 0)"),
    case("a table without samples", lambda: learn_weights([VOTES[:0]]), "Ms", "(0, 2)"),
    case("votes of a half", lambda: learn_weights([VOTES, VOTES / 2]), "Ms[1]", "-1 and +1"),
    case("votes NaN", lambda: learn_weights([VOTES * NAN]), "Ms[0]", "-1 and +1"),
    case(
        "one voter abstains",
        lambda: learn_weights([changed(VOTES, (0, 1), 0.0)]),
        "Ms[0]",
        "whole rows",
        str(changed(VOTES, (0, 1), 0.0)[0].tolist()),
    ),
    case(
        "the first voter abstains",
        lambda: learn_weights([changed(VOTES, (0, 0), 0.0)]),
        "Ms[0]",
        "whole rows",
    ),
    case("weights, T negative", lambda: learn_weights([VOTES], max_iter=-1), "max_iter", "-1"),
    case("weights, update", lambda: learn_weights([VOTES], update="x"), "update", "'x'"),
    case("weights, step", lambda: learn_weights([VOTES], step="x"), "step", "'x'"),
    case("weights, rho_step", lambda: learn_weights([VOTES], rho_step="x"), "rho_step", "'x'"),
    case("weights, smoothing", lambda: learn_weights([VOTES], smoothing=-1), "smoothing", "-1"),
    case(
        "weights, no smoothing and no errors",
        lambda: learn_weights([VOTES, np.ones((3, 1))], smoothing=0),
        "smoothing",
        "view 1",
    ),
]

GAP = [changed(A, 3, NAN), B]
ONE_OF_A_CLASS = np.where(np.arange(40) == 3, "c", np.where(Y, "b", "a"))

VOTING = [
    case("Mono, view unknown", rival(Mono, view="sound"), "view", "'sound'", "view_0", "'cv'"),
    case("Mono, view far", rival(Mono, view=2), "view", "0..1", "2"),
    case("Mono, view None", rival(Mono, view=None), "view", "None"),
    case("Mono, view 0.5", rival(Mono, view=0.5), "view", "0.5"),
    case("Mono, two views", rival(Mono, view=[0, 1]), "view", "[0, 1]"),
    case("Mono, no views", rival(Mono, view=[]), "view", "[]"),
    case("Mono, one fold", rival(Mono, cv=1), "cv", ">= 2", "1"),
    case("Mono, folds a word", rival(Mono, cv="five"), "cv", "'five'"),
    case("Concat, a gap refused", rival(Concat, GAP, estimator=LogisticRegression()), "missing"),
    case("Fusion, one part", rival(Fusion, train_size=1), "train_size", "1"),
    case("Fusion, no first part", rival(Fusion, train_size=0.0), "train_size", "> 0", "0.0"),
    case("Fusion, a share above 1", rival(Fusion, train_size=60), "train_size", "<= 1", "60"),
    case("Fusion, a share in words", rival(Fusion, train_size="60%"), "train_size", "'60%'"),
    case("Fusion, final regresses", rival(Fusion, final_estimator=Ridge()), "final_estimator"),
    case("Fusion, a lone sample", rival(Fusion, y=ONE_OF_A_CLASS), "2 samples", "'c'"),
    *(
        case(f"{method.__name__}, {name}", rival(method, estimator=wrong), "estimator ", told)
        for method in (Mono, Concat, Fusion, MVMV, MVWAB, RBoostSH, Mumbo)
        for name, wrong, told in (
            ("estimator regresses", Ridge(), "Ridge()"),
            ("estimator a class", KNeighborsClassifier, "KNeighborsClassifier"),
            ("estimator a word", "tree", "'tree'"),
        )
    ),
    *(
        case(f"{method.__name__}, {name}", rival(method, **{parameter: wrong}), parameter, told)
        for method in (MVWAB, RBoostSH, Mumbo)
        for name, parameter, wrong, told in (
            ("no rounds", "n_estimators", 0, ">= 1, got 0"),
            ("rounds 1.5", "n_estimators", 1.5, "1.5"),
            ("ties unknown", "ties", "score", "'score'"),
            ("no weights", "estimator", KNeighborsClassifier(), "sample_weight"),
        )
    ),
    case("MVMV, ties unknown", rival(MVMV, ties="first"), "ties", "'first'", "largest"),
    case("gamma zero", rival(RBoostSH, gamma=0), "gamma", "> 0", "0"),
    case("gamma above 1", rival(RBoostSH, gamma=1.1), "gamma", "<= 1", "1.1"),
    case("gamma None", rival(RBoostSH, gamma=None), "gamma", "None"),
    case("sigma negative", rival(RBoostSH, sigma=-0.1), "sigma", ">= 0", "-0.1"),
    *(
        case(
            f"{method.__name__}, a view of one class",
            rival(method, [np.where(Y[:, None], NAN, A), B]),
            "'view_0'",
            "one class",
        )
        for method in (Mono, Fusion, MVMV, MVWAB, RBoostSH, Mumbo)
    ),
]

LINEAR = (SVMPerf, SMS, CAPO, FSMulti)

MEASURES = [
    *(
        case(f"{method.__name__}, {name}", rival(method, **wrong), *told)
        for method in LINEAR
        for name, wrong, told in (
            ("measure unknown", {"measure": "fbeta"}, ("measure", "'fbeta'", "prbep")),
            ("measure None", {"measure": None}, ("measure", "None", "auroc")),
            ("C2 zero", {"C2": 0}, ("C2", "> 0", "0")),
            ("C2 NaN", {"C2": NAN}, ("C2", "nan")),
            ("C2 a word", {"C2": "large"}, ("C2", "'large'")),
            ("scaling negative", {"intercept_scaling": -1}, ("intercept_scaling", "> 0", "-1")),
            ("tol zero", {"tol": 0}, ("tol", "> 0", "0")),
            ("no rounds", {"max_iter": 0}, ("max_iter", ">= 1", "0")),
            ("rounds 2.5", {"max_iter": 2.5}, ("max_iter", "integer", "2.5")),
            ("n_jobs zero", {"n_jobs": 0}, ("n_jobs", "0")),
            ("y None", {"y": None}, ("y", "None")),
            ("y shorter", {"y": Y[:-1]}, ("y ", "39", "40")),
            ("y one class", {"y": np.full(40, 3)}, ("y", "one class", "3")),
            ("no view", {"X": one_row_without_views()}, ("1 sample", "no view", "row 3")),
            ("infinite", {"X": [changed(A, 0, np.inf), B]}, ("infinity", "'view_0'")),
            ("other widths", {"views": [4, 3]}, ("views", "[4, 3]", "[3, 4]")),
        )
    ),
    *(
        case(f"{method.__name__}, {name}", predict_of(method, wrong), *told)
        for method in LINEAR
        for name, wrong, told in (
            ("predict without a view", one_row_without_views(), ("1 sample", "row 3")),
            ("predict other widths", [A, B[:, :3]], ("[3, 3]", "[3, 4]")),
        )
    ),
    case("SMS, measure error", rival(SMS, measure="error"), "measure", "'error'", "auroc"),
    case("SMS, no smoothing", rival(SMS, smoothing=0), "smoothing", "> 0", "0"),
    case("FSMulti, no features", rival(FSMulti, n_features=0), "n_features", ">= 1", "0"),
    case("FSMulti, half of them", rival(FSMulti, n_features=0.5), "n_features", "0.5"),
    case("CAPO, B zero", rival(CAPO, B=0), "B ", "> 0", "0"),
    case("CAPO, one fold", rival(CAPO, cv=1), "cv", ">= 2", "1"),
    case("CAPO, no classifiers", rival(CAPO, auxiliaries=[]), "auxiliaries", "[]", "list"),
    case("CAPO, one, no list", rival(CAPO, auxiliaries=STUMP), "auxiliaries", "list", "Tree"),
    case("CAPO, one regresses", rival(CAPO, auxiliaries=[Ridge()]), "auxiliaries[0]", "Ridge()"),
    case("CAPO, one is a class", rival(CAPO, auxiliaries=[type(STUMP)]), "auxiliaries[0]"),
    case("CAPO, a lone sample", rival(CAPO, y=ONE_OF_A_CLASS), "2 samples", "'c'"),
    case("CAPO, random_state a word", rival(CAPO, random_state="a"), "'a'", "seed"),
]

FACTORISED = (MVMClassifier, MVMRegressor, FMClassifier, FMRegressor)

PRODUCTS = [
    *(
        case(f"{method.__name__}, {name}", rival(method, **wrong), *told)
        for method in (*FACTORISED, STMClassifier)
        for name, wrong, told in (
            ("tol negative", {"tol": -1}, ("tol", "-1")),
            ("no rounds", {"max_iter": 0}, ("max_iter", ">= 1", "0")),
            ("random_state a word", {"random_state": "a"}, ("'a'", "seed")),
            ("y None", {"y": None}, ("y", "None")),
            ("y shorter", {"y": Y[:-1]}, ("y ", "39", "40")),
            ("no view", {"X": one_row_without_views()}, ("1 sample", "no view", "row 3")),
            ("infinite", {"X": [changed(A, 0, np.inf), B]}, ("infinity", "'view_0'")),
            ("other widths", {"views": [4, 3]}, ("views", "[4, 3]", "[3, 4]")),
        )
    ),
    *(
        case(f"{method.__name__}, predict {name}", predict_of(method, wrong), *told)
        for method in (*FACTORISED, STMClassifier)
        for name, wrong, told in (
            ("without a view", one_row_without_views(), ("1 sample", "row 3")),
            ("other widths", [A, B[:, :3]], ("[3, 3]", "[3, 4]")),
            ("huge numbers", [A * 1e200, B * 1e200], ("X ", "large", "products")),
        )
    ),
    *(
        case(f"{method.__name__}, {name}", rival(method, **wrong), *told)
        for method in FACTORISED
        for name, wrong, told in (
            ("no factors", {"n_factors": 0}, ("n_factors", ">= 1", "0")),
            ("alpha negative", {"alpha": -1.0}, ("alpha", ">= 0", "-1.0")),
            ("start NaN", {"init_scale": NAN}, ("init_scale", "nan")),
        )
    ),
    *(
        case(f"{method.__name__}, {name}", rival(method, **wrong), *told)
        for method in (MVMClassifier, FMClassifier, STMClassifier)
        for name, wrong, told in (
            ("one class", {"y": np.full(40, 3)}, ("y", "one class", "3")),
            ("n_jobs zero", {"n_jobs": 0}, ("n_jobs", "0")),
        )
    ),
    *(
        case(f"{method.__name__}, {name}", rival(method, y=y), *told)
        for method in (MVMRegressor, FMRegressor)
        for name, y, told in (
            ("words", ["a"] * 40, ("y", "numbers")),
            ("NaN", changed(np.zeros(40), 7, NAN), ("y", "NaN")),
        )
    ),
    case("MVM, start at zero", rival(MVMClassifier, init_scale=0), "init_scale", "> 0", "0"),
    case("FM, order zero", rival(FMClassifier, order=0), "order", ">= 1", "0"),
    case("FM, multiview a word", rival(FMClassifier, multiview="no"), "multiview", "'no'"),
    case("STM, kernel unknown", rival(STMClassifier, kernel="rbf"), "kernel", "'rbf'", "product"),
    case("STM, C zero", rival(STMClassifier, C=0), "C", "> 0", "0"),
    case("STM, no starts", rival(STMClassifier, n_restarts=0), "n_restarts", ">= 1", "0"),
    case("MVM, loss unknown", rival(MVMClassifier, loss="cubic"), "loss", "'cubic'", "hinge"),
    case("MVM, hinge by L-BFGS", rival(MVMClassifier, loss="hinge"), "loss", "'lbfgs'", "'sgd'"),
    case("MVM, loss of classes", rival(MVMRegressor, loss="logistic"), "loss", "'logistic'"),
    case("MVM, penalty unknown", rival(MVMClassifier, penalty="l0"), "penalty", "'l0'", "l1"),
    case("MVM, solver unknown", rival(MVMClassifier, solver="newton"), "solver", "'newton'"),
    case("MVM, ALS for logits", rival(MVMClassifier, solver="als"), "'als'", "loss='logistic'"),
    case("MVM, init unknown", rival(MVMClassifier, init="zero"), "init", "'zero'", "live"),
    case("MVM, groups no lists", rival(MVMClassifier, groups=[0, 1]), "groups", "lists"),
    case("MVM, a group too many", rival(MVMClassifier, groups=[[0, 5], [1]]), "groups", "5"),
    case("MVM, a view left out", rival(MVMClassifier, groups=[[0]]), "groups", "view_1"),
]

KERNEL_MACHINES = (MVNAKMHKS, NAKMHKS, KMHKS)

MACHINES = [
    *(
        case(f"{method.__name__}, {name}", rival(method, **wrong), *told)
        for method in KERNEL_MACHINES
        for name, wrong, told in (
            ("c negative", {"c": -1.0}, ("c ", ">= 0", "-1.0")),
            ("c a word", {"c": "large"}, ("c ", "'large'")),
            ("solver unknown", {"solver": "newton"}, ("solver", "'newton'", "exact")),
            ("multi_class unknown", {"multi_class": "all"}, ("multi_class", "'all'", "ovr")),
            ("learning_rate zero", {"learning_rate": 0}, ("learning_rate", "> 0", "0")),
            ("learning_rate two", {"learning_rate": 2.0}, ("learning_rate", "<= 1", "2.0")),
            ("tol negative", {"tol": -1}, ("tol", ">= 0", "-1")),
            ("no rounds", {"max_iter": 0}, ("max_iter", ">= 1", "0")),
            ("kernel unknown", {"kernel": "sigmoid"}, ("kernel", "'sigmoid'", "rbf")),
            ("one gamma too many", {"gamma": [1.0, 1.0, 1.0]}, ("gamma", "3", "2")),
            ("n_jobs zero", {"n_jobs": 0}, ("n_jobs", "0")),
            ("y None", {"y": None}, ("y", "None")),
            ("y shorter", {"y": Y[:-1]}, ("y ", "39", "40")),
            ("one class", {"y": np.full(40, 3)}, ("y", "one class", "3")),
            ("no view", {"X": one_row_without_views()}, ("1 sample", "no view", "row 3")),
            ("infinite", {"X": [changed(A, 0, np.inf), B]}, ("infinity", "'view_0'")),
            ("other widths", {"views": [4, 3]}, ("views", "[4, 3]", "[3, 4]")),
        )
    ),
    *(
        case(f"{method.__name__}, predict {name}", predict_of(method, wrong), *told)
        for method in KERNEL_MACHINES
        for name, wrong, told in (
            ("without a view", one_row_without_views(), ("1 sample", "row 3")),
            ("other widths", [A, B[:, :3]], ("[3, 3]", "[3, 4]")),
        )
    ),
    *(
        case(f"{method.__name__}, {name}", rival(method, **wrong), *told)
        for method in (MVNAKMHKS, NAKMHKS)
        for name, wrong, told in (
            ("no components", {"n_components": 0}, ("n_components", ">= 1", "0")),
            ("too many", {"n_components": 41}, ("n_components", "41", "40")),
            ("a share above 1", {"n_components": 1.5}, ("n_components", "1.5")),
            ("components a word", {"n_components": "all"}, ("n_components", "'all'", "auto")),
            ("decision unknown", {"decision": "exact"}, ("decision", "'exact'", "nystrom")),
            ("random_state a word", {"random_state": "a"}, ("'a'", "seed")),
        )
    ),
    case("MVNA, coupling negative", rival(MVNAKMHKS, coupling=-1), "coupling", ">= 0", "-1"),
    case("MVNA, three of two views", rival(MVNAKMHKS, n_views=3), "n_views", "multiple", "3"),
    case("MVNA, no views", rival(MVNAKMHKS, n_views=0), "n_views", ">= 1", "0"),
    case("MVNA, weights all 0", rival(MVNAKMHKS, view_weights=[0, 0]), "view_weights", "[0, 0]"),
    case("MVNA, a weight too many", rival(MVNAKMHKS, view_weights=[1] * 3), "view_weights", "3"),
    case("MVNA, a cost too many", rival(MVNAKMHKS, c=[1.0] * 3), "c has 3", "2 views"),
]

WITH_KERNELS = (SVM2K, CoLabeling, MVML)

MORE_VIEWS = [
    *(
        case(f"{method.__name__}, {name}", rival(method, **wrong), *told)
        for method in (*WITH_KERNELS, L3SVM, MSL)
        for name, wrong, told in (
            ("tol zero", {"tol": 0}, ("tol", "> 0", "0")),
            ("tol a word", {"tol": "small"}, ("tol", "'small'")),
            ("y None", {"y": None}, ("y", "None")),
            ("y shorter", {"y": Y[:-1]}, ("y ", "39", "40")),
            ("one class", {"y": np.full(40, 3)}, ("y", "one class", "3")),
            ("no view", {"X": one_row_without_views()}, ("1 sample", "no view", "row 3")),
            ("infinite", {"X": [changed(A, 0, np.inf), B]}, ("infinity", "'view_0'")),
            ("other widths", {"views": [4, 3]}, ("views", "[4, 3]", "[3, 4]")),
        )
    ),
    *(
        case(f"{method.__name__}, predict {name}", predict_of(method, wrong), *told)
        for method in (*WITH_KERNELS, L3SVM, MSL)
        for name, wrong, told in (
            ("without a view", one_row_without_views(), ("1 sample", "row 3")),
            ("other widths", [A, B[:, :3]], ("[3, 3]", "[3, 4]")),
        )
    ),
    *(
        case(f"{method.__name__}, {name}", rival(method, **wrong), *told)
        for method in WITH_KERNELS
        for name, wrong, told in (
            ("kernel unknown", {"kernel": "sigmoid"}, ("kernel", "'sigmoid'", "rbf")),
            ("one kernel of two", {"kernel": ["rbf"]}, ("kernel", "1", "2 views")),
            ("gamma zero", {"gamma": 0}, ("gamma", "> 0", "0")),
            ("one gamma too many", {"gamma": [1.0, 1.0, 1.0]}, ("gamma", "3", "2")),
            ("gram not square", {"kernel": "gram"}, ("gram", "square", "(40, 3)")),
        )
    ),
    *(
        case(f"{method.__name__}, {name}", rival(method, **wrong), *told)
        for method in (SVM2K, CoLabeling, MSL)
        for name, wrong, told in (("n_jobs zero", {"n_jobs": 0}, ("n_jobs", "0")),)
    ),
    *(
        case(f"{method.__name__}, random_state a word", rival(method, random_state="a"), "'a'")
        for method in (SVM2K, MVML, L3SVM, MSL)
    ),
    case("SVM2K, C1 zero", rival(SVM2K, C1=0), "C1", "> 0", "0"),
    case("SVM2K, C2 a word", rival(SVM2K, C2="C1"), "C2", "'C1'"),
    case("SVM2K, D negative", rival(SVM2K, D=-1), "D ", ">= 0", "-1"),
    case("SVM2K, eps NaN", rival(SVM2K, eps=NAN), "eps", "nan"),
    case("SVM2K, no sweeps", rival(SVM2K, max_iter=0), "max_iter", ">= 1", "0"),
    case("SVM2K, ties unknown", rival(SVM2K, ties="first"), "ties", "'first'", "score"),
    case("CoLabeling, C zero", rival(CoLabeling, C=0), "C ", "> 0", "0"),
    case("CoLabeling, no rounds", rival(CoLabeling, max_rounds=0), "max_rounds", ">= 1", "0"),
    case(
        "CoLabeling, intercept",
        rival(CoLabeling, intercept_scaling=-1),
        "intercept_scaling",
        ">= 0",
        "-1",
    ),
    case(
        "CoLabeling, unlabelled gaps",
        lambda: CoLabeling().fit(X, Y, X_unlabelled=[changed(A, 3, NAN), B]),
        "X_unlabelled",
        "row 3",
        "'view_0'",
    ),
    case("MVML, lam zero", rival(MVML, lam=0), "lam", "> 0", "0"),
    case("MVML, eta NaN", rival(MVML, eta=NAN), "eta", "nan"),
    case("MVML, no components", rival(MVML, n_components=0), "n_components", ">= 1", "0"),
    case("MVML, too many", rival(MVML, n_components=41), "n_components", "41", "40"),
    case("MVML, components a word", rival(MVML, n_components="all"), "n_components", "'all'"),
    case("MVML, rounds 1.5", rival(MVML, n_rounds=1.5), "n_rounds", "1.5"),
    case("MVML, a view nobody has", rival(MVML, [A, GONE]), "no sample with view 1"),
    case("L3SVM, no clusters", rival(L3SVM, n_clusters=0), "n_clusters", ">= 1", "0"),
    case("L3SVM, 41 clusters", rival(L3SVM, n_clusters=41), "n_clusters", "<= 40", "41"),
    case("L3SVM, L too large", rival(L3SVM, n_landmarks=41), "n_landmarks", "<= 40", "41"),
    case("L3SVM, L a word", rival(L3SVM, n_landmarks="all"), "n_landmarks", "'all'"),
    case("L3SVM, Gram matrices", rival(L3SVM, kernel="gram"), "kernel", "'gram'", "linear"),
    case("L3SVM, landmarks", rival(L3SVM, landmarks="all"), "landmarks", "'all'", "cluster"),
    case("L3SVM, c zero", rival(L3SVM, c=0), "c ", "> 0", "0"),
    case("L3SVM, loss unknown", rival(L3SVM, loss="log"), "loss", "'log'", "hinge"),
    case("L3SVM, huge numbers", predict_of(L3SVM, [A * 1e200, B]), "X ", "large", "products"),
    case("MSL, alpha one", rival(MSL, alpha=1.0), "alpha", "below 1", "1.0"),
    case("MSL, C zero", rival(MSL, C=0), "C ", "> 0", "0"),
    case("MSL, one view", rival(MSL, pair=[0]), "pair", "[0]", "view_1"),
    case("MSL, a view twice", rival(MSL, pair=(1, 1)), "pair", "(1, 1)"),
    case("MSL, a view unknown", rival(MSL, pair=("view_0", "sound")), "pair", "'sound'"),
    case("MSL, beta zero", rival(MSL, beta=[1.0, 0]), "beta", "> 0", "0"),
    case("MSL, train_on", rival(MSL, train_on="H"), "train_on", "'H'", "factor"),
    case("MSL, a pair nobody has", rival(MSL, [A, GONE]), "['view_0', 'view_1']", "there is none"),
    case("completion, output", rival(LaplacianCompletion, output="kernel"), "output", "'kernel'"),
]

TABLE = [
    *MULTIVIEW,
    *CUTS,
    *VALUES,
    *TARGETS,
    *LANDMARKS,
    *KERNELS,
    *SVM,
    *AFTER_FIT,
    *IMPUTE,
    *OTHERS,
    *VOTING,
    *MWMVC2,
    *MEASURES,
    *PRODUCTS,
    *MACHINES,
    *MORE_VIEWS,
]


@pytest.mark.parametrize("wrong", TABLE)
def test_message(wrong):
    with pytest.raises(Exception) as caught:
        wrong.call()
    message = str(caught.value)
    assert caught.type is ValueError, f"{caught.type.__name__}: {message}"
    for fragment in wrong.fragments:
        assert fragment in message
    assert "np." not in message, "NumPy's own spelling of a value"


BEFORE_FIT = {
    "MVLSVM.predict": lambda: MVLSVM().predict(X),
    "MVLSVM.decision_function": lambda: MVLSVM().decision_function(X),
    # there is a theta, but no landmark
    "MVLSVM after fit_latent": lambda: MVLSVM().fit_latent(A, Y).predict(X),
    "LandmarkProjection.transform": lambda: LandmarkProjection().transform(X),
    "LandmarkProjection names": lambda: LandmarkProjection().get_feature_names_out(),
    "LandmarkProjection.restrict": lambda: LandmarkProjection().restrict([0]),
    "PerView.transform": lambda: PerView(StandardScaler()).transform(X),
    "PerView, passthrough": lambda: PerView().transform(X),
    "MVPO.predict": lambda: MVPO().predict(X),
    "MVPO.decision_function": lambda: MVPO().decision_function(X),
    "MwMvC2.predict": lambda: MwMvC2().predict(X),
    "MwMvC2.decision_function": lambda: MwMvC2().decision_function(X),
    "PerViewSVM.predict": lambda: PerViewSVM().predict(X),
    "LaplacianCompletion.transform": lambda: LaplacianCompletion().transform(X),
    "Mono.predict": lambda: Mono().predict(X),
    "Concat.predict": lambda: Concat().predict(X),
    "Fusion.decision_function": lambda: Fusion().decision_function(X),
    "MVMV.predict": lambda: MVMV().predict(X),
    "MVWAB.predict": lambda: MVWAB().predict(X),
    "RBoostSH.decision_function": lambda: RBoostSH().decision_function(X),
    "Mumbo.predict": lambda: Mumbo().predict(X),
    "SVMPerf.predict": lambda: SVMPerf().predict(X),
    "SMS.decision_function": lambda: SMS().decision_function(X),
    "CAPO.predict": lambda: CAPO().predict(X),
    "FSMulti.decision_function": lambda: FSMulti().decision_function(X),
    "MVMClassifier.predict": lambda: MVMClassifier().predict(X),
    "MVMClassifier.decompose": lambda: MVMClassifier().decompose(X),
    "MVMClassifier.order_weights": lambda: MVMClassifier().order_weights(),
    "MVNAKMHKS.predict": lambda: MVNAKMHKS().predict(X),
    "MVNAKMHKS.view_scores": lambda: MVNAKMHKS().view_scores(X),
    "NAKMHKS.decision_function": lambda: NAKMHKS().decision_function(X),
    "KMHKS.predict": lambda: KMHKS().predict(X),
    "MVMRegressor.predict": lambda: MVMRegressor().predict(X),
    "FMClassifier.predict_proba": lambda: FMClassifier().predict_proba(X),
    "FMRegressor.predict": lambda: FMRegressor().predict(X),
    "STMClassifier.decision_function": lambda: STMClassifier().decision_function(X),
    "SVM2K.predict": lambda: SVM2K().predict(X),
    "SVM2K.decision_function": lambda: SVM2K().decision_function(X),
    "CoLabeling.decision_function": lambda: CoLabeling().decision_function(X),
    "MVML.predict": lambda: MVML().predict(X),
    "L3SVM.predict": lambda: L3SVM().predict(X),
    "MSL.decision_function": lambda: MSL().decision_function(X),
    "MSL.represent": lambda: MSL().represent(X),
}


@pytest.mark.parametrize("call", BEFORE_FIT.values(), ids=BEFORE_FIT)
def test_before_fit(call):
    with pytest.raises(NotFittedError, match="not fitted"):
        call()


def test_a_failed_fit_does_not_look_fitted():
    """Wrong parameters are found before anything is learnt."""
    model = MVLSVM(c=-1)
    with pytest.raises(ValueError, match="^c must be"):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_the_table_is_large_enough():
    assert len(TABLE) >= 30

"""Wrong calls, and the error message of each.

Every row of the table is a call and fragments that its message must contain: the name of the
argument and the given value. The exception is a plain ValueError, whatever the internal cause;
only predicting before fitting raises a NotFittedError.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from mvref import MVLSVM, LandmarkProjection, MultiView, PerView, all_methods
from mvref.mvl_svm import impute
from mvref.mwmvc2.weights import learn_weights
from mvref.rivals import LaplacianCompletion
from tests.literal import changed, toy_views
from tests.test_api import IN_FULL

METHODS = all_methods()
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
VOTES = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


class Case(NamedTuple):
    """A wrong call, and fragments that its message must contain."""

    call: Callable
    fragments: tuple


def case(name, call, *fragments):
    return pytest.param(Case(call, fragments), id=name)


GAP = [changed(A, 3, NAN), B]
NO_VIEW = [changed(A, 3, NAN), changed(B, 3, NAN)]  # row 3 has no view
NO_PAIR = [changed(A, slice(0, 20), NAN), changed(B, slice(20, 40), NAN)]  # no sample has both
ONE_CLASS = [np.where(Y[:, None], NAN, A), B]  # in view 0
LISTS = pd.DataFrame({"e": list(A)})  # embeddings, say
LazyFrame = type("LazyFrame", (), {})  # as in polars
BACKED = SimpleNamespace(
    X=None, obs_names=pd.RangeIndex(40), var_names=["x"], layers={}, isbacked=True
)
IN_FILE = SimpleNamespace(mod={"a": BACKED}, obs_names=BACKED.obs_names)
A_LONE_SAMPLE = np.where(np.arange(40) == 3, "c", np.where(Y, "b", "a"))


def fit(name="MVLSVM", X=X, y=Y, **parameters):
    """Return a call of fit(X, y) of the named method."""
    return lambda: METHODS[name](**parameters).fit(X, y)


def predict(name, new):
    """Return a call of predict(new) after a fit on X, Y."""
    return lambda: METHODS[name]().fit(X, Y).predict(new)


def values(names, parameter, *wrong, also=()):
    """Yield a case for each method and wrong value; the message names parameter and value."""
    for name in names.split():
        for value in wrong:
            call = fit(name, **{parameter: value})
            told = (f"{parameter} must ", f"got {value!r}", *also)
            yield case(f"{name}, {parameter}={value!r}"[:60], call, *told)


MEASURED = "SVMPerf SMS CAPO FSMulti"
FACTORISED = "MVMClassifier MVMRegressor FMClassifier FMRegressor"
KERNEL_MACHINES = "MVNAKMHKS NAKMHKS KMHKS"
BOOSTED = "MVWAB RBoostSH Mumbo"
KERNELS = "LandmarkProjection MVLSVM PerViewSVM LaplacianCompletion MVPO SVM2K CoLabeling MVML"
POSITIVE = ("> 0",)


def not_psd(A, B):
    return -2.0 - A @ B.T


# A row is a call and parts of its message.
# fmt: off
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
    case("words", fit(X={"sound": A, "text": [["x"]] * 40}), "'text'", "words", "OneHotEnc"),
    case("complex numbers", lambda: MultiView([A, B * 1j]), "'view_1'", "complex"),
    case("ragged view", lambda: MultiView([[[1, 2], [3]]]), "'view_0'", "numbers"),
    case("one name for two", lambda: MultiView([A, B], names=["a"]), "names", "2", "['a']"),
    case("overlapping names", lambda: MultiView([A, B], names=["a", "a"]), "names", "['a', 'a']"),
    case("names no list", lambda: MultiView([A, B], names=3), "names", "3"),
    case("overlapping names of a mapping", lambda: MultiView({1: A, "1": B}), "names",
        "['1', '1']"),
    case("observed transposed", lambda: MultiView([A, B], observed=np.ones((2, 40), dtype=bool)),
        "observed", "(40, 2)", "(2, 40)"),
    case("observed of numbers", lambda: MultiView([A, B], observed=np.ones((40, 2))), "observed",
        "bool", "float64"),
    case("observed ragged", lambda: MultiView([A, B], observed=[[True], [True, False]]),
        "observed"),
    case("observed but NaN",
        lambda: MultiView([A, changed(B, 7, NAN)], observed=np.ones((40, 2), dtype=bool)),
        "observed", "sample 7", "NaN"),
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
    case("frames of other rows", lambda: MultiView([FRAME, FRAME.iloc[::-1]]), "views", "ind"),
]

IMPUTE = [
    case("impute, a row without anything", lambda: impute(np.full((2, 4), NAN), P), "row 0"),
    case("impute, ridge negative", lambda: impute(PHI, P, ridge=-1), "ridge", "-1"),
    case("impute, ridge a word", lambda: impute(PHI, P, ridge="a"), "ridge", "'a'"),
    case("impute, P too narrow", lambda: impute(PHI, np.eye(3)), "P ", "3", "4"),
    case("impute, P too wide", lambda: impute(PHI, np.eye(6)), "P ", "6", "4"),
    case("impute, P with NaN", lambda: impute(PHI, changed(P, (0, 1), NAN)), "P ", "NaN"),
    case("impute, Phi 1-D", lambda: impute(PHI[0], P), "Phi", "2-D"),
    case("impute, Phi infinite", lambda: impute(changed(PHI, (0, 0), np.inf), P), "Phi",
        "infinity"),
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
    case("a number beside a table", fit(views=2), "views", "2"),
    case("a number beside an array", fit(X=FLAT, views=2), "views", "2"),
    case("unknown column in fit", fit(X=FRAME, views=[["a"], ["z"]]), "views", "['z']"),
]

NO_VIEWS_NEEDED = ("LandmarkProjection", "LaplacianCompletion")  # transformers raise it later
ON_THEIR_OWN = (*NO_VIEWS_NEEDED, "CoLabeling")  # with a `fit` of their own


def of_every_method():
    """Yield input that no method takes: all cases for some methods, for others only a few."""
    for name, method in METHODS.items():
        wrong = {"infinite": ({"X": [changed(A, 0, np.inf), B]}, ("infinity", "'view_0'"))}
        if name in (*IN_FULL, *ON_THEIR_OWN):
            wrong |= {
                "other widths": ({"views": [4, 3]}, ("views", "[4, 3]", "[3, 4]")),
                "NaN in half a row": ({"X": [changed(A, (2, 1), NAN), B]}, ("NaN", "view_0")),
            }
        if name not in (*NO_VIEWS_NEEDED, "PerViewSVM"):  # trains on the others
            wrong["no view"] = {"X": NO_VIEW}, ("1 sample", "no view at all", "row 3")
        if name not in NO_VIEWS_NEEDED:
            wrong["y shorter"] = {"y": Y[:-1]}, ("y ", "39", "40")
        if is_classifier(method()):
            wrong["one class"] = {"y": np.full(40, 3)}, ("y", "one class", "3")
        if is_regressor(method()):
            wrong |= {
                "y of words": ({"y": ["a"] * 40}, ("y", "numbers")),
                "y with NaN": ({"y": changed(np.zeros(40), 7, NAN)}, ("y", "missing")),
            }
        for told, (call, fragments) in wrong.items():
            yield case(f"{name}, {told}", fit(name, **call), *fragments)
        if hasattr(method, "predict"):
            call = predict(name, NO_VIEW)
            yield case(f"{name}, predict without a view", call, "1 sample", "row 3")
    for told, new, fragments in (
        ("other widths", [A, B[:, :3]], ("[3, 3]", "[3, 4]")),
        ("fewer views", [A], ("1 view", "[3]", "2 views", "[3, 4]")),
        ("infinite", [changed(A, 0, np.inf), B], ("infinity", "'view_0'")),
    ):
        for name in ("MVLSVM", "MVMRegressor", "CoLabeling"):
            yield case(f"{name}, predict {told}", predict(name, new), *fragments)


DATA = [
    *of_every_method(),
    case("NaN in half a row, flat", fit(X=changed(FLAT, (2, 5), NAN), views=[3, 4]), "NaN",
        "view_1"),
    case("NaN without views", fit(X=changed(FLAT, (2, 5), NAN)), "NaN", "X"),
    case("infinite, CSR", fit(X=[sparse.csr_matrix(changed(A, 0, -np.inf))]), "infinity"),
    case("infinite, flat", fit(X=changed(FLAT, (0, 6), np.inf), views=[3, 4]), "infinity"),
    case("empty list", fit(X=[]), "views", "empty"),
    case("empty mapping", fit(X={}), "views", "empty"),
    case("no rows", fit(X=[A[:0], B[:0]], y=Y[:0]), "0 sample"),
    case("3-D array", fit(X=np.zeros((2, 40, 3))), "array with dim 3"),
    case("a view nobody has", lambda: PerView(StandardScaler()).fit([A, GONE]), "'view_1'"),
    case("y None", fit(y=None), "y", "None"),
    case("y continuous", fit(y=A[:, 0]), "label", "continuous"),
    case("y one word", fit(y=["yes"] * 40), "y", "one class", "'yes'"),
    case("y with NaN", fit(y=np.where(Y, NAN, 1.0)), "y", "missing"),
    case("y with None", fit(y=np.where(Y, None, "yes")), "y", "None"),
    case("y with NA", fit(y=pd.Series(Y, dtype="Int64").where(Y == 1)), "y "),
    case("y of words and NaN", fit(y=np.where(Y, np.array(NAN, dtype=object), "yes")), "y", "nan"),
    case("y of words and numbers", fit(y=np.where(Y, np.array(1, dtype=object), "b")), "y", "str"),
    case("y of two columns", fit(y=np.column_stack([Y, Y])), "y", "(40, 2)"),
    case("y shorter, PerView", lambda: PerView(StandardScaler()).fit(X, Y[:-1]), "y ", "39", "40"),
    case("y shorter, latent", lambda: MVLSVM().fit_latent(A, Y[:-1]), "y ", "39", "40"),
    case("predict, more views", lambda: FITTED.predict([A, B, B]), "3 views", "2 views"),
    case("predict, flat", lambda: FITTED.predict(FLAT[:, :6]), "6 features", "7 features"),
    case("predict, half NaN", lambda: FITTED.predict(changed(FLAT, (0, 0), NAN)), "NaN"),
    case("no view, projection", lambda: FITTED.projection_.transform(NO_VIEW), "row 3", "no view"),
    case("PerView, other widths",
        lambda: PerView(StandardScaler()).fit(X).transform([A, B[:, :3]]), "[3, 3]", "[3, 4]"),
    case("LaplacianCompletion, other widths",
        lambda: LaplacianCompletion().fit(X).transform([A, B[:, :3]]), "[3, 3]", "[3, 4]"),
    *(
        case(f"{name}, a view of one class", fit(name, ONE_CLASS), "'view_0'", "one class")
        for name in ("PerViewSVM", "MwMvC2", "Mono", "Fusion", "MVMV", "MVWAB", "RBoostSH", "Mumbo")
    ),
    case("SVM2K, a view of one class", fit("SVM2K", ONE_CLASS), "samples of one class only"),
        *(
        case(f"{name}, a view nobody has", fit(name, [A, GONE]), "'view_1'", "every sample")
        for name in METHODS if hasattr(METHODS[name], "predict")
    ),
    case("completion, a view nobody has", fit("LaplacianCompletion", [A, GONE]), "in none",
        "'view_1'"),
    case("nobody has both views", lambda: LaplacianCompletion(reference=0).fit_transform(NO_PAIR),
        "reference", "'view_1'"),
    case("a lazy frame", fit("MVLSVM", {"a": LazyFrame()}), "'a' is not in memory", ".collect()"),
    case("a flat lazy frame", fit("MVLSVM", LazyFrame()), "X is not in memory", ".collect()"),
    case("a lazy frame, joined", lambda: MultiView.align([LazyFrame()]), "in memory", ".collect()"),
    case("AnnData in a file", fit("MVLSVM", [BACKED]), "in memory", ".to_memory()"),
    case("MuData in a file", fit("MVLSVM", IN_FILE), "'a' is not in memory", ".to_memory()"),
    case("AnnData in a file, cut", lambda: MultiView.from_array(BACKED, [1]), ".to_memory()"),
    case("a view of images", fit("MVLSVM", {"im": np.ones((40, 2, 2)), "b": B}), "'im'",
        "3 dimension(s); make a row of each sample, view.reshape(len(view), -1)"),
    case("a column of lists", fit("MVLSVM", {"a": LISTS, "b": B}), "'a' holds a list in each cell",
        "numpy.stack(frame['e'])"),
    case("a flat column of lists", fit("MVLSVM", LISTS), "X holds", "numpy.stack(frame['e'])"),
    case("a series of lists", fit("MVLSVM", {"a": LISTS["e"]}), "'a'", "numpy.stack(frame['e'])"),
    case("thousands of names", fit("MVLSVM", pd.DataFrame(A), views=[["x"] * 5000]), "4990 more"),
    case("Concat, a gap refused", fit("Concat", GAP, estimator=LogisticRegression()), "missing"),
    *(
        case(f"{name}, a lone sample", fit(name, y=A_LONE_SAMPLE), told, "'c'")
        for name, told in (("Fusion", "2 samples"), ("CAPO", "two samples"))
    ),
    *(
        case(f"{name}, huge numbers", predict(name, [A * 1e200, B * 1e200]), "X ", "large",
            "products")
        for name in f"{FACTORISED} STMClassifier L3SVM".split()
    ),
    case("L3SVM, huge in fit", fit("L3SVM", [A * 1e160, B]), "scale the views"),
    case("CoLabeling, one view", lambda: METHODS["CoLabeling"]().fit([A], Y, [A]),
        "needs two views"),
    case("CoLabeling, fewer views", lambda: METHODS["CoLabeling"]().fit(X, Y, [A]),
        "fitted on 2 views"),
    case("CoLabeling, unlabelled gaps",
        lambda: METHODS["CoLabeling"]().fit(X, Y, X_unlabelled=GAP), "X_unlabelled", "row 3",
        "'view_0'"),
    case("MSL, a pair nobody has", fit("MSL", NO_PAIR), "['view_0', 'view_1']", "there is none"),
    case("latent of lists", lambda: MVLSVM().fit_latent(Y, Y), "Phi", "2-D"),
    case("latent with NaN", lambda: MVLSVM().fit_latent(changed(A, 0, NAN), Y), "Phi", "NaN"),
    case("latent m zero", lambda: MVLSVM().fit_latent(A, Y, m=0), "m ", "0"),
    case("latent c negative", lambda: MVLSVM(c=-1.0).fit_latent(A, Y), "c ", "> 0", "-1.0"),
]

# ------------------------------------------------------------------ parameters

PARAMETERS = [
    # landmarks and their imputation
    *values("LandmarkProjection MVLSVM", "n_landmarks", 0, -3, also=(">= 1",)),
    *values("LandmarkProjection", "n_landmarks", 2.5, also=("integer",)),
    *values("LandmarkProjection", "n_landmarks", "all", None, also=("'auto'",)),
    *values("LandmarkProjection", "landmarks", "random", also=("per_view",)),
    *values("LandmarkProjection", "ridge", -1, "small", also=(">= 0",)),
    *values("LandmarkProjection", "clip", (1, 0), 0.5, (None, 1), ("a", "b"), (NAN, 1)),
    *values("MVLSVM", "n_selected", 0, also=(">= 1",)),
    # kernels
    *values(f"{KERNELS} {KERNEL_MACHINES}", "kernel", "sigmoid", None, also=("linear", "rbf")),
    *values("L3SVM", "kernel", "gram", "precomputed", also=("linear",)),
    *values("STMClassifier", "kernel", "rbf", also=("product",)),
    *values(f"{KERNELS} {KERNEL_MACHINES} L3SVM", "gamma", -1.0, also=POSITIVE),
    *values("MVLSVM MVML SVM2K CoLabeling", "gamma", 0, NAN, "scale"),
    # linear machines
    *values("MVLSVM L3SVM", "c", -1, 0.0, NAN, np.inf, "1", also=POSITIVE),
    *values("MVLSVM L3SVM MSL", "loss", "log", also=("hinge",)),
    *values("MVLSVM L3SVM", "intercept_scaling", 0, also=POSITIVE),
    *values("MSL CoLabeling", "intercept_scaling", -1, also=(">= 0",)),
    *values("MVLSVM", "solver", "libsvm", also=("liblinear",)),
    *values("PerViewSVM CoLabeling MSL STMClassifier", "C", -1, 0, NAN, also=POSITIVE),
    *values("PerViewSVM SVM2K", "ties", "first", also=("score",)),
    *values("SVM2K", "C1", 0, also=POSITIVE),
    *values("SVM2K", "C2", -1.0, "C1"),
    *values("SVM2K", "D", -0.5, also=(">= 0",)),
    *values("SVM2K", "eps", None, NAN, also=(">= 0",)),
    *values("CoLabeling", "max_rounds", 0, also=(">= 1",)),
    *values("L3SVM", "n_clusters", 0, 41, also=("<= 40",)),
    *values("L3SVM", "n_landmarks", 0, "all", also=(">= 1",)),
    *values("L3SVM", "landmarks", "all", "per_view", also=("cluster",)),
    *values("L3SVM", "n_init", 0, also=(">= 1",)),
    *values("MSL", "alpha", 0, also=POSITIVE),
    *values("MSL", "ridge", 0, also=POSITIVE),
    *values("Mono MSL CAPO", "cv", 1, also=(">= 2",)),
    *values(f"{FACTORISED} STMClassifier", "n_init", 0, 1.5, True, also=("integer >= 1",)),
    *values("MVML", "lam", 0, also=POSITIVE),
    *values("MVML", "eta", -1.0, NAN),
    *values("MVML", "n_rounds", 1.5, also=(">= 0",)),
    *values("MVML MVNAKMHKS NAKMHKS", "n_components", 0, 0.0, 1.5, "all", True),
    # limits shared by many methods
    *values("MVLSVM L3SVM MSL MVML SVM2K CoLabeling MVPO SMS CAPO", "tol", 0, also=POSITIVE),
    *values("FSMulti FMClassifier FMRegressor STMClassifier SVMPerf", "tol", 0, -1.0,
        also=POSITIVE),
    *values(f"MVMClassifier MVMRegressor {KERNEL_MACHINES}", "tol", -1, also=(">= 0",)),
    *values("MVLSVM L3SVM MSL SVM2K MVPO STMClassifier", "max_iter", 0, 1.5,
        also=("integer >= 1",)),
    *values(f"{MEASURED} {FACTORISED} {KERNEL_MACHINES}", "max_iter", 0, 2.5, None,
        also=("integer >= 1",)),
    # measures
    *values(f"MVPO {MEASURED}", "measure", "f2", None, also=("auroc",)),
    *values(MEASURED, "measure", "fbeta", also=("prbep",)),
    *values("SMS", "measure", "error", also=("auroc",)),
    *values(f"MVPO {MEASURED}", "C2", 0, -1, NAN, "large", None, also=POSITIVE),
    *values(f"MVPO {MEASURED}", "intercept_scaling", 0.0, -1, NAN, also=POSITIVE),
    *values("MVPO", "C1", -0.1, NAN),
    *values("MVPO", "beta", 0.0, 1e60),
    *values("MVPO", "solver", "kernel"),
    *values("SMS", "smoothing", 0, also=POSITIVE),
    *values("FSMulti", "n_features", 0, 0.5, also=(">= 1",)),
    *values("CAPO", "B", 0, also=POSITIVE),
    *values("CAPO", "auxiliaries", [], STUMP, SVC(), also=("list",)),
    # factors
    *values(FACTORISED, "n_factors", 0, 2.0, also=(">= 1",)),
    *values(FACTORISED, "alpha", -1.0, also=(">= 0",)),
    *values(FACTORISED, "alpha", "small", also=("solver='als'",)),
    *values(FACTORISED, "init_scale", NAN),
    *values("FMClassifier FMRegressor", "order", 0, 2.5, also=(">= 1",)),
    *values("FMClassifier FMRegressor", "multiview", "no", also=("True or False",)),
    *values("MVMClassifier", "init_scale", 0, also=POSITIVE),
    *values("MVMClassifier", "loss", "cubic", also=("hinge",)),
    *values("MVMRegressor", "loss", "logistic"),
    *values("MVMClassifier", "penalty", "l0", also=("l1",)),
    *values("MVMClassifier", "solver", "newton"),
    *values("MVMClassifier", "init", "zero", also=("live",)),
    *values("MVMClassifier", "smoothing", 0),
    *values("MVMClassifier", "learning_rate", 0.0),
    *values("MVMClassifier", "batch_size", 0),
    *values("MVMClassifier", "n_iter_no_change", 0),
    *values("MVMClassifier", "groups", 3, []),
    # Ho-Kashyap
    *values(KERNEL_MACHINES, "c", -1.0, "large", also=(">= 0",)),
    *values(KERNEL_MACHINES, "solver", "newton", also=("exact",)),
    *values(KERNEL_MACHINES, "multi_class", "all", also=("ovr",)),
    *values(KERNEL_MACHINES, "learning_rate", 0, 2.0, also=("> 0 and <= 1",)),
    *values("MVNAKMHKS NAKMHKS", "decision", "exact", also=("nystrom",)),
    *values("MVNAKMHKS", "coupling", -1, also=(">= 0",)),
    *values("MVNAKMHKS", "n_views", 0, also=(">= 1",)),
    # voters
    *values("Mono Concat Fusion MVMV MVWAB RBoostSH Mumbo", "estimator", Ridge(),
        KNeighborsClassifier, "tree"),
    *values(BOOSTED, "n_estimators", 0, 1.5, also=(">= 1",)),
    *values(BOOSTED, "ties", "score"),
    *values("MVMV MwMvC2", "ties", "first", None, also=("largest", "random")),
    *values("RBoostSH", "gamma", 0, 1.1, None, also=("> 0 and <= 1",)),
    *values("RBoostSH", "sigma", -0.1, also=(">= 0",)),
    *values("Mono", "view", "sound", 2, None, 0.5, [0, 1], [], also=("'cv'",)),
    *values("Mono", "cv", "five"),
    *values("Fusion", "train_size", 1, 0.0, 60, "60%"),
    *values("Fusion", "final_estimator", Ridge()),
    *values("MwMvC2", "voters", "tree", also=("random_trees",)),
    *values("MwMvC2", "voters", None, [], STUMP, {"a": STUMP}, also=("list",)),
    *values("MwMvC2", "max_iter", -1, 1.5, None, also=("integer >= 0",)),
    *values("MwMvC2", "update", "printed", None, also=("paper", "monotone")),
    *values("MwMvC2", "step", 1.0, also=("collins",)),
    *values("MwMvC2", "rho_step", "lp", also=("exact",)),
    *values("MwMvC2", "smoothing", -0.1, NAN, np.inf, None, also=(">= 0",)),
    *values("MwMvC2", "smoothing", "small", also=("'auto'",)),
    *values("LaplacianCompletion", "reference", "sound", 2, None, 0.5, [0, 1], also=("view_0",)),
    *values("LaplacianCompletion", "output", "kernel"),
]

# Specific messages.
RELATIONS = [
    case("no complete row", fit("LandmarkProjection", NO_PAIR), "No sample is complete"),
    case("landmarks twice", fit("LandmarkProjection", landmarks=[1, 1]), "different", "[1, 1]"),
    case("landmarks empty", fit("LandmarkProjection", landmarks=[]), "landmarks", "[]"),
    case("landmarks far", fit("LandmarkProjection", landmarks=[0, 40]), "landmarks", "40",
        "0 to 39"),
    case("landmarks by mask", fit("LandmarkProjection", landmarks=np.ones(40, bool)), "landmarks"),
    case("landmark with a gap", fit("LandmarkProjection", GAP, landmarks=[3]), "landmarks",
        "row 3"),
    case("n_selected too large", fit(n_landmarks=5, n_selected=6), "n_selected", "5", "6"),
    *(
        case(f"{name}, one kernel of two", fit(name, kernel=["rbf"]), "kernel", "1", "2 views")
        for name in KERNELS.split()
    ),
    *(
        case(f"{name}, gammas", fit(name, kernel="rbf", gamma=[1.0] * 3), "gamma", "3", "2 views")
        for name in f"{KERNELS} {KERNEL_MACHINES}".split()
    ),
    *(
        case(f"{name}, gram not square", fit(name, kernel="gram"), "gram", "square", "(40, 3)")
        for name in f"{KERNELS} {KERNEL_MACHINES}".split()
    ),
    *(
        case(f"{name}, not a kernel", fit(name, kernel=not_psd), "positive", "definite")
        for name in ("SVM2K", "MVML", "MVNAKMHKS")
    ),
    case("second kernel", fit("LandmarkProjection", kernel=["rbf", "cosine"]), "kernel",
        "'cosine'"),
    case("gamma mean of features", fit("LandmarkProjection", gamma="mean"), "gamma='mean'",
        "precomputed", "rbf"),
    case("distances negative", fit("LandmarkProjection", [-DISTANCES], kernel="precomputed"),
        "precomputed", "neg"),
    case("distances without zero",
        fit("LandmarkProjection", [DISTANCES + 1], kernel="precomputed"), "zero", "row 0"),
    case("distances to nobody",
        fit("LandmarkProjection", [np.zeros((40, 40))], kernel="precomputed"), "gamma", "zero"),
    case(
        "negative new distances",
        lambda: (
            LandmarkProjection(kernel="precomputed").fit([DISTANCES]).transform([-DISTANCES - 1])
        ),
        "precomputed",
        "neg",
    ),
    case("callable of wrong shape", fit("LandmarkProjection", kernel=lambda a, b: np.ones(3)),
        "kernel", "(40, 40)", "(3,)"),
    case("callable with NaN",
        fit("LandmarkProjection", kernel=lambda a, b: np.full((len(a), len(b)), NAN)), "kernel",
        "finite", "1600"),
    case("callable of None", fit("LandmarkProjection", kernel=lambda a, b: None), "(40, 40)"),
    case("callable with words", fit("LandmarkProjection", kernel=lambda a, b: "x"), "kernel",
        "'x'"),
    case("liblinear with hinge", fit(solver="liblinear"), "solver='liblinear'", "squared_hinge"),
    case("PerView, one for two", lambda: PerView([StandardScaler()]).fit(X), "transformer", "1"),
    case("PerView, other names", lambda: PerView({"q": None}).fit(X), "transformer", "['q']"),
    case("PerView, a word", lambda: PerView("scale").fit(X), "transformer", "'scale'"),
    case("PerView, a number", lambda: PerView(3).fit(X), "transformer", "3"),
    case("PerView, a class", lambda: PerView(StandardScaler).fit(X), "transformer", "class"),
    *(
        case(f"{name}, no weights", fit(name, estimator=KNeighborsClassifier()), "sample_weight")
        for name in BOOSTED.split()
    ),
    *(
        case(f"{name}, one of them a {told}", fit(name, **{p: wrong}), f"{p}[{i}]", "classifier",
            told)
        for name, p in (("MwMvC2", "voters"), ("CAPO", "auxiliaries"))
        for wrong, i, told in (
            ([type(STUMP)], 0, "class"),
            ([STUMP, 3], 1, "3"),
            ([STUMP, Ridge()], 1, "Ridge()"),
        )
    ),
    case("MwMvC2, n_jobs", fit("MwMvC2", n_jobs="all"), "n_jobs"),
    case("no smoothing and no errors",
        fit("MwMvC2", voters=[DecisionTreeClassifier()], smoothing=0), "smoothing", "> 0",
        "view 0"),
    case("MSL, all of alpha", fit("MSL", alpha=1.0), "alpha must be below 1", "1.0"),
    case("MSL, no bound", fit("MSL", beta=[1.0, 0.0]), "beta must be a number > 0", "0.0"),
    case("MSL, one bound", fit("MSL", beta=[1.0]), "beta has 1 entries, but X has 2 views"),
    case("MSL, a loose tol", fit("MSL", tol=0.5), "tol below 0.1"),
    case("MVM, hinge by L-BFGS", fit("MVMClassifier", loss="hinge"), "'lbfgs'", "'sgd'",
        "squared_hinge"),
    case("MVM, ALS and hinge", fit("MVMClassifier", solver="als", loss="hinge"), "'als'",
        "loss='hinge'"),
    case("MVM, ALS and l1", fit("MVMClassifier", solver="als", loss="squared", penalty="l1"),
        "penalty='l1'"),
    case("MVM, early", fit("MVMClassifier", early_stopping=True), "early_stopping",
        "solver='lbfgs'"),
    case("MVM, nobody to validate on",
        fit("MVMClassifier", X[:4], [0, 1, 0, 1], solver="sgd", early_stopping=True),
        "early_stopping", "one of the 4"),
    *(
        case(f"MVM, groups {groups}", fit("MVMClassifier", groups=groups), "groups", *told)
        for groups, told in (
            ([[0, 1], []], ("lists", "[]")),
            ([0, 1], ("lists",)),
            ([[0, 1], [2, 5]], ("[2, 5]", "no view 2")),
            ([["view_0", "sound"]], ("'sound'",)),
            ([[0, "view_0"], [1]], ("repeated",)),
            ([[0, 1], [1, 0]], ("same group twice",)),
            ([[0]], ("leaves out", "view_1")),
        )
    ),
    case("MVNA, three of two views", fit("MVNAKMHKS", n_views=3), "n_views", "multiple", "3"),
    case("MVNA, weights", fit("MVNAKMHKS", view_weights=[1, -1]), "view_weights must be", ">= 0",
        "-1"),
    case("MVNA, weights all 0", fit("MVNAKMHKS", view_weights=[0, 0]), "view_weights",
        "an entry > 0", "[0, 0]"),
    case("MVNA, a weight too many", fit("MVNAKMHKS", view_weights=[1] * 3), "view_weights has 3"),
    case("MVNA, no weight left", fit("MVNAKMHKS", [A, changed(B, 0, NAN)], view_weights=[0, 1]),
        "view_weights is zero", "row 0"),
    case("MVNA, a cost too many", fit("MVNAKMHKS", c=[1.0] * 3), "c has 3", "2 views"),
]

WEIGHTS = [
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
    *(
        case(f"voter {j} abstains", lambda j=j: learn_weights([changed(VOTES, (0, j), 0.0)]),
            "Ms[0]", "a row of 0", str(changed(VOTES, (0, j), 0.0)[0].tolist()))
        for j in (0, 1)
    ),
    *(
        case(f"weights, {p}", lambda p=p, v=v: learn_weights([VOTES], **{p: v}), p, repr(v))
        for p, v in (
            ("max_iter", -1),
            ("update", "x"),
            ("step", "x"),
            ("rho_step", "x"),
            ("smoothing", -1),
        )
    ),
    case("weights, no smoothing and no errors",
        lambda: learn_weights([VOTES, np.ones((3, 1))], smoothing=0), "smoothing", "view 1"),
]

# fmt: on
TABLE = [*MULTIVIEW, *CUTS, *DATA, *PARAMETERS, *RELATIONS, *IMPUTE, *WEIGHTS]


@pytest.mark.parametrize("wrong", TABLE)
def test_message(wrong):
    with np.errstate(all="ignore"), pytest.raises(Exception) as caught:
        wrong.call()
    message = str(caught.value)
    assert caught.type is ValueError, f"{caught.type.__name__}: {message}"
    for fragment in wrong.fragments:
        assert fragment in message
    assert "np." not in message, "NumPy's own spelling of a value"


OF_SAMPLES = ("decompose", "view_scores", "represent")  # scikit-learn asks for the others
BEFORE_FIT = {
    f"{name}.{function}": lambda method=method, function=function: getattr(method(), function)(X)
    for name, method in METHODS.items()
    for function in OF_SAMPLES
    if hasattr(method(), function)
} | {
    # theta exists, but no landmark
    "MVLSVM after fit_latent": lambda: MVLSVM().fit_latent(A, Y).predict(X),
    "LandmarkProjection names": lambda: LandmarkProjection().get_feature_names_out(),
    "LandmarkProjection.restrict": lambda: LandmarkProjection().restrict([0]),
    "PerView.transform": lambda: PerView(StandardScaler()).transform(X),
    "PerView, passthrough": lambda: PerView().transform(X),
    "MVMClassifier.order_weights": lambda: METHODS["MVMClassifier"]().order_weights(),
}


@pytest.mark.parametrize("call", BEFORE_FIT.values(), ids=BEFORE_FIT)
def test_before_fit(call):
    with pytest.raises(NotFittedError, match="not fitted"):
        call()


@pytest.mark.parametrize("name", ["MVMClassifier", "FMClassifier", "FMRegressor"])
def test_nothing_to_count_before_fit(name):
    assert not hasattr(METHODS[name](), "n_parameters")


def test_a_failed_fit_does_not_look_fitted():
    """Check that wrong parameters are found before training."""
    model = MVLSVM(c=-1)
    with pytest.raises(ValueError, match="^c must be"):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(X)

"""Two implementations of one computation, timed in turns: the second part of :mod:`.speed`.

scikit-learn  where one of its estimators, or a pipeline of them, solves the very same problem; the
              parameters are translated, and both sides get similar tolerances.
literal       a formula of a paper as it is printed, with its loops over samples, tables or pairs,
              or its inverse of n + 1 rows, which does not change with t: computed once per view.

Each side is run once to warm up, and then in turns; ``ours_seconds`` and ``theirs_seconds`` are
medians. ``difference`` is the largest difference between the two outputs (test set scores, unless
a pair states otherwise) relative to the largest output: if it is large, the pair is not comparable.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from mvref.core.input import MultiView
from mvref.mvl_svm import MVLSVM, LandmarkProjection
from mvref.mvna_kmhks import MVNAKMHKS, NAKMHKS
from mvref.mvpo import MVPO, f_beta_argmax
from mvref.rivals import Concat, FMClassifier, PerViewSVM, RBoostSH

from .tables import seconds_of

ROUNDS = 3  # turns of each side
GAMMA, C = 1.0, 1.0  # width of kernels where rows have norm 1, and the C of SVMs
N_LANDMARKS = 100
SWEEPS = 5  # of Table 1 of MVNA-KMHKS


class Contest(NamedTuple):
    """Two timed functions, and arrays made from their results, which must agree."""

    ours: Callable  #: no arguments
    theirs: Callable
    our_answer: Callable = np.asarray  #: takes the result of `ours`
    their_answer: Callable = np.asarray


class Pair(NamedTuple):
    """Computation with two implementations."""

    other: str  #: short name of the other implementation
    kind: str  #: "scikit-learn" or "literal"
    contest: Callable  #: takes X, y and the test set, returns a Contest
    sizes: tuple = (500, 1000, 2000)


def against(pair, X, y, test):
    """Time the two implementations in turns and compare their outputs; y (n,): -1 or 1."""
    seconds = []
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        contest = pair.contest(X, y, test)  # the differences show a lack of convergence
        contest.ours(), contest.theirs()
        for _ in range(ROUNDS):
            one, our_seconds = seconds_of(contest.ours)
            two, their_seconds = seconds_of(contest.theirs)
            seconds.append([our_seconds, their_seconds])
    one, two = contest.our_answer(one), contest.their_answer(two)
    ours, theirs = np.median(seconds, axis=0).tolist()
    difference = float(np.abs(one - two).max() / np.abs(two).max())
    return {"ours_seconds": ours, "theirs_seconds": theirs, "difference": difference}


# ------------------------------------------------------------------ against scikit-learn


def machines(ours, theirs, X, y, test, *, form=MultiView.concat, scale=1.0):
    """Return the contest of two classifiers by their scores, ours multiplied by `scale`.

    form: converts the views to the input of the other classifier.
    """
    columns, new = form(X), form(test)
    return Contest(
        lambda: ours.fit(X, y),
        lambda: theirs.fit(columns, y),
        lambda machine: scale * machine.decision_function(test),
        lambda machine: machine.decision_function(new),
    )


def linear_svm(X, y, test):
    """MVPO for the error rate: 2 n times its weights equal the linear SVM's (C = 4 n C2)."""
    n = len(y)
    ours = MVPO("error", C1=0.0, C2=C / (4 * n), normalize=False, fit_intercept=False, tol=1e-5)
    theirs = LinearSVC(
        loss="hinge", C=C, fit_intercept=False, tol=1e-4, max_iter=100_000, random_state=0
    )
    return machines(ours, theirs, X, y, test, scale=2 * n)


def kernel_svms(X, y, test):
    """PerViewSVM: one SVC for each view, and the proportion of their votes."""
    ours = PerViewSVM(C=C, gamma=GAMMA, random_state=0)

    def votes(svms):
        scores = [svm.decision_function(view) for svm, view in zip(svms, test.views, strict=True)]
        agreed = np.sum(np.sign(scores), axis=0)
        return np.sign(np.where(agreed == 0, np.sum(scores, axis=0), agreed))

    return Contest(
        lambda: ours.fit(X, y),
        lambda: [SVC(C=C, gamma=GAMMA).fit(view, y) for view in X.views],
        lambda machine: machine.predict(test),
        votes,
    )


def logistic(X, y, test):
    """A factorisation machine of order 1 (C = 1 / (2 alpha n))."""
    ours = FMClassifier(order=1, alpha=1 / (2 * C * len(y)), random_state=0)
    return machines(ours, LogisticRegression(C=C, tol=1e-6, max_iter=10_000), X, y, test)


def landmark_svm(X, y, test):
    """MVL-SVM: concatenated similarities to the same landmarks, and LinearSVC (C = c/m)."""
    rows = np.arange(N_LANDMARKS)
    options = {"loss": "squared_hinge", "tol": 1e-4, "max_iter": 10_000, "random_state": 0}
    ours = MVLSVM(landmarks=rows, n_landmarks=len(rows), gamma=GAMMA, c=C * len(y), **options)

    def similarities(new):
        pairs = zip(new.views, X.views, strict=True)
        return np.hstack([rbf_kernel(view, old[rows], gamma=GAMMA) for view, old in pairs])

    svm = LinearSVC(C=C, dual="auto", **options)
    theirs = make_pipeline(FunctionTransformer(similarities), svm)
    return machines(ours, theirs, X, y, test, form=lambda views: views)


def nystrom_svm(X, y, test):
    """NA-KMHKS: Nystroem on the same components and LinearSVC, squared hinge (C = 1 / (2 c))."""
    columns = X.concat()
    ours = NAKMHKS(N_LANDMARKS, gamma=GAMMA, c=1 / (2 * C), tol=1e-8, random_state=0)
    rows = np.ravel(ours.fit(columns, y).component_indices_)
    kernel = Nystroem(gamma=GAMMA, n_components=len(rows), random_state=0)
    # our constant is not penalised: here it gets a large value
    svm = LinearSVC(C=C, dual=False, intercept_scaling=100.0, tol=1e-6, max_iter=10_000)

    return Contest(
        lambda: ours.fit(columns, y),
        lambda: svm.fit(kernel.fit(columns[rows]).transform(columns), y),
        lambda machine: machine.decision_function(test.concat()),
        lambda svm: svm.decision_function(kernel.transform(test.concat())),
    )


def one_tree(X, y, test):
    """Concat: the tree itself."""
    columns, theirs = X.concat(), DecisionTreeClassifier(random_state=0)
    ours = Concat(DecisionTreeClassifier(random_state=0))
    return Contest(
        lambda: ours.fit(X, y),
        lambda: theirs.fit(columns, y),
        lambda tree: tree.predict(test),
        lambda tree: tree.predict(test.concat()),
    )


def adaboost(X, y, test):
    """rBoost.SH with a single view is AdaBoost; its scores are half the sum of the weights."""
    tree, T = DecisionTreeClassifier(max_depth=1), 20
    ours = RBoostSH(tree, n_estimators=T, random_state=0)
    theirs = AdaBoostClassifier(tree, n_estimators=T, random_state=0)
    one_view, new = X.views[:1], test.views[:1]
    return Contest(
        lambda: ours.fit(one_view, y),
        lambda: theirs.fit(X.views[0], y),
        lambda machine: 2 * machine.decision_function(new) / machine.alphas_.sum(),
        lambda machine: machine.decision_function(test.views[0]),
    )


# ------------------------------------------------------------------ against the printed form


def f1_tables(X, y, test):
    """The most violated labels for F1 over all contingency tables (a, b): their largest value."""
    scores = X.views[0].sum(axis=1) / len(y)

    def tables():
        p, q = np.sort(scores[y > 0])[::-1], np.sort(scores[y < 0])[::-1]
        best, P = -np.inf, len(p)
        missed = np.append(np.cumsum(p[::-1])[::-1], 0.0).tolist()
        wrong = np.append(0.0, np.cumsum(q)).tolist()
        for a in range(P + 1):
            for b in range(len(q) + 1):
                best = max(best, 1 - 2 * a / (P + a + b) - 2 * missed[a] + 2 * wrong[b])
        return best

    return Contest(lambda: f_beta_argmax(scores, y).value, tables)


def pairs_of_features(X, y, test):
    """Scores of a factorisation machine, Eq. (26): d (d - 1) / 2 products for each sample."""
    signs = np.where(test.views[0].sum(axis=1) > 0, 1, -1)
    model = FMClassifier(alpha=1e-2, max_iter=20, random_state=0).fit(test, signs)
    columns, (factors,) = X.concat(), model.factors_

    def literal():
        scores = model.intercept_ + columns @ np.ravel(model.coef_)
        for i in range(columns.shape[1]):
            for j in range(i + 1, columns.shape[1]):
                scores = scores + factors[i] @ factors[j] * columns[:, i] * columns[:, j]
        return scores

    return Contest(lambda: model.decision_function(X), literal)


def similarities_one_by_one(X, y, test):
    """Eq. (1) of MVL-SVM: the similarity of one sample to one landmark at a time."""
    marks = np.arange(N_LANDMARKS)
    projection = LandmarkProjection(landmarks=marks, n_landmarks=len(marks), gamma=GAMMA).fit(X)

    def literal():
        return [
            [np.exp(-GAMMA * np.sum((V[i] - mark) ** 2)) for V in X.views for mark in V[marks]]
            for i in range(len(y))
        ]

    return Contest(lambda: projection.transform(X), literal)


def printed_inverse(X, y, test):
    """Table 1 of MVNA-KMHKS with the matrix of Eq. (7), n + 1 rows: the last value of Eq. (4)."""
    columns, c, coupling, rho = X.concat(), 0.1, 1.0, 0.5
    ours = MVNAKMHKS(
        2, N_LANDMARKS, gamma=GAMMA, c=c, coupling=coupling, learning_rate=rho, solver="paper",
        tol=0.0, max_iter=SWEEPS, random_state=0,
    )  # fmt: skip
    components = ours.fit(columns, y).component_indices_
    return Contest(
        lambda: ours.fit(columns, y),
        lambda: table_1(columns, y, components, c, coupling, rho, SWEEPS),
        lambda machine: machine.objective_curve_[-1],
    )


def table_1(x, Y, components, c, coupling, rho, T):
    """Return J' after T sweeps of Eqs. (7) and (9) from Gamma = 0, b = 0, one inverse per view."""
    n, M = len(Y), len(components)
    G = Y[:, None] * rbf_kernel(x, gamma=GAMMA) * Y
    Ks = [G[:, S] @ np.linalg.pinv(G[np.ix_(S, S)], hermitian=True) @ G[S] for S in components]
    inverses = []  # of the matrix of Eq. (7), which is the same in every sweep
    for K in Ks:
        A = np.zeros((n + 1, n + 1))
        A[:n, :n] = (1 + coupling) * K + c * np.eye(n)
        A[:n, n] = (1 + coupling) * Y
        A[n, :n] = (1 + coupling) * (Y @ K)
        A[n, n] = (1 + coupling) * n
        inverses.append(np.linalg.inv(A))
    b, f, Gammas = (np.zeros((M, n)) for _ in range(3))
    for _ in range(T):
        for p, K in enumerate(Ks):
            target = 1 + b[p] + coupling * f.mean(axis=0)
            *Gammas[p], w0 = inverses[p] @ np.append(target, Y @ target)
            f[p] = K @ Gammas[p] + w0 * Y
            e = f[p] - 1 - b[p]
            b[p] += rho * (e + np.abs(e))  # Eq. (9)
    value = np.sum((f - 1 - b) ** 2) + coupling * np.sum((f - f.mean(axis=0)) ** 2)
    return value + c * sum(g @ K @ g for g, K in zip(Gammas, Ks, strict=True))


PAIRS = {
    "MVPO": Pair("LinearSVC, hinge", "scikit-learn", linear_svm),
    "PerViewSVM": Pair("SVC for each view", "scikit-learn", kernel_svms),
    "FMClassifier": Pair("LogisticRegression", "scikit-learn", logistic),
    "MVLSVM": Pair("rbf_kernel, LinearSVC", "scikit-learn", landmark_svm),
    "NAKMHKS": Pair("Nystroem, LinearSVC", "scikit-learn", nystrom_svm),
    "Concat": Pair("DecisionTreeClassifier", "scikit-learn", one_tree),
    "RBoostSH": Pair("AdaBoostClassifier", "scikit-learn", adaboost),
    "most violated labels": Pair("all tables", "literal", f1_tables),
    "score of pairs": Pair("pair by pair", "literal", pairs_of_features),
    "landmark similarities": Pair("one by one", "literal", similarities_one_by_one, (500, 1000)),
    "MVNAKMHKS": Pair("inverse of n + 1 rows", "literal", printed_inverse, (500, 1000)),
}

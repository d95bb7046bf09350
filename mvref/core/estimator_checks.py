"""The promises of every multi-view estimator of mvref, as checks of any estimator.

A check is a function of an unfitted estimator and a :class:`World`; its docstring is the promise.
"""

import pickle
import warnings
from dataclasses import dataclass
from textwrap import shorten

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from .input import BaseEstimator, Literal, MultiView
from .per_view import PerView

NAMES = ["ant", "bee"]
IDS = [f"p{i:02d}" for i in range(60)]


@dataclass(frozen=True)
class World:
    """Sixty samples in two views of three and two columns, and their targets."""

    views: dict
    y: np.ndarray

    @property
    def X(self):
        """The samples as a MultiView."""
        return MultiView(self.views)

    @property
    def flat(self):
        """The concatenated features of all views."""
        return np.hstack(list(self.views.values()))


def check_multiview_estimator(
    estimator: BaseEstimator, *, on_fail: Literal["raise", "tell"] = "raise"
) -> dict[str, str]:
    """Check that an estimator keeps the multi-view promises that mvref's own estimators keep.

    Parameters
    ----------
    estimator : unfitted classifier or regressor with a parameter ``views``
    on_fail : {"raise", "tell"}, default="raise"
        "raise" stops at the first check that fails; "tell" runs all checks and returns their
        failures.

    Returns
    -------
    failures : dict, name of a check -> its promise and the finding; {} if all checks pass

    Raises
    ------
    AssertionError
        With ``on_fail="raise"``: the name of the check, its promise, and the finding.

    See Also
    --------
    all_methods : Estimators that pass the checks.

    Notes
    -----
    The estimator is cloned, and fitted about fifty times on 60 samples, so use settings that are
    fast. :func:`sklearn.utils.estimator_checks.check_estimator` runs the checks of scikit-learn.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from mvref import PerViewClassifier, check_multiview_estimator
    >>> check_multiview_estimator(PerViewClassifier())
    {}
    >>> told = check_multiview_estimator(LogisticRegression(), on_fail="tell")
    >>> print(told["check_constructor"])
    The constructor has a parameter `views`, None by default. Found: no parameter `views`.
    """
    if on_fail not in ("raise", "tell"):
        raise ValueError(f"on_fail must be 'raise' or 'tell', got {on_fail!r}.")
    rng = np.random.RandomState(0)
    codes = np.arange(60) % 2
    views = {"labs": rng.normal(size=(60, 3)), "scan": rng.normal(size=(60, 2))}
    for view in views.values():
        view[:, 0] += 1.5 * codes
    y = np.array(NAMES)[codes] if is_classifier(estimator) else views["labs"][:, 0] + codes
    world, failures = World(views, y), {}
    for check in CHECKS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(clone(estimator), world)
        except Exception as error:  # any exception is a finding
            promise = " ".join(check.__doc__.split())  # type: ignore[union-attr]
            found = str(error) if isinstance(error, AssertionError) else shorten(repr(error), 300)
            failures[check.__name__] = f"{promise} Found: {found}"
            if on_fail == "raise":
                raise AssertionError(f"{check.__name__}: {failures[check.__name__]}") from error
    return failures


def said(model, X):
    """Return the predictions of a fitted model: scores, or numbers."""
    return np.asarray(getattr(model, "decision_function", model.predict)(X))


def same(found, wanted, what):
    """Raise an AssertionError unless two predictions are equal up to rounding."""
    if found.shape != wanted.shape or not np.allclose(found, wanted, rtol=1e-6, atol=1e-6):
        raise AssertionError(f"{what} changes the predictions.")


def refused(call, what):
    """Raise an AssertionError unless a call raises a ValueError with an informative message."""
    try:
        call()
    except ValueError as error:
        if len(str(error)) > 10:
            return
        raise AssertionError(f"the ValueError for {what} is only {str(error)!r}.") from error
    raise AssertionError(f"{what} raises no ValueError.")


def seeded(estimator, **parameters):
    """Return a clone, with a fixed seed if it has a `random_state`."""
    given = estimator.get_params()
    parameters |= {"random_state": 0} if "random_state" in given else {}
    return clone(estimator).set_params(**parameters)


def check_constructor(estimator, world):
    """The constructor has a parameter `views`, None by default."""
    if "views" not in estimator.get_params(deep=False):
        raise AssertionError("no parameter `views`.")
    if type(estimator)().views is not None:
        raise AssertionError(f"views={type(estimator)().views!r}.")


def check_kind(estimator, world):
    """It is a classifier with `classes_`, or a regressor, and `fit` returns the estimator."""
    if not (is_classifier(estimator) or is_regressor(estimator)):
        raise AssertionError("neither.")
    if estimator.fit(world.X, world.y) is not estimator:
        raise AssertionError("`fit` returns something else.")
    if is_classifier(estimator) and list(estimator.classes_) != NAMES:
        raise AssertionError(f"classes_={estimator.classes_!r}.")


def check_not_fitted(estimator, world):
    """Before `fit`, `predict` raises a NotFittedError."""
    try:
        estimator.predict(world.X)
    except NotFittedError:
        return
    raise AssertionError("it predicts.")


def check_input_forms(estimator, world):
    """A MultiView, a mapping, a list and one table split by `views` give the same predictions."""
    wanted = said(seeded(estimator).fit(world.X, world.y), world.X)
    forms = {"a mapping": world.views, "a list": list(world.views.values())}
    for name, form in forms.items():
        same(said(seeded(estimator).fit(form, world.y), form), wanted, name)
    model = seeded(estimator, views=[3, 2]).fit(world.flat, world.y)
    same(said(model, world.flat), wanted, "a table cut by widths")
    frame = _frame(world)
    cut = {name: [c for c in frame if c.startswith(name)] for name in world.views}
    model = seeded(estimator, views=cut).fit(frame, world.y)
    same(said(model, frame), wanted, "a frame cut by the names of columns")


def check_views_by_name(estimator, world):
    """Named views may come in any order; other names and widths raise a ValueError."""
    model = seeded(estimator).fit(world.X, world.y)
    turned = dict(reversed(world.views.items()))
    same(said(model, turned), said(model, world.X), "another order of the views")
    labs, scan = world.views.values()
    refused(lambda: model.predict({"labs": labs, "other": scan}), "a view of another name")
    refused(lambda: model.predict([labs, scan[:, :1]]), "a view with fewer columns")


def check_ids(estimator, world):
    """Labels with the ids of the samples in another order raise a ValueError."""
    from pandas import DataFrame, Series

    frames = {name: DataFrame(view, IDS) for name, view in world.views.items()}
    y = Series(world.y, IDS)
    wanted = said(seeded(estimator).fit(world.views, world.y), world.views)
    same(said(seeded(estimator).fit(frames, y), frames), wanted, "input with ids")
    refused(lambda: seeded(estimator).fit(frames, y[::-1]), "a `y` in another order of ids")


def check_labels(estimator, world):
    """Labels of any type give the same model, and the class with the best score is predicted."""
    if is_classifier(estimator):
        model = seeded(estimator).fit(world.X, world.y)
        codes = (world.y == NAMES[1]).astype(int)
        same(said(seeded(estimator).fit(world.X, codes), world.X), said(model, world.X), "0 and 1")
        if hasattr(model, "decision_function"):
            scores = model.decision_function(world.X)
            if scores.shape != (60,):
                raise AssertionError(f"scores of two classes have the shape {scores.shape}.")
            if (model.predict(world.X) != np.array(NAMES)[(scores > 0).astype(int)]).any():
                raise AssertionError("the class is not the second where the score is above 0.")
        refused(lambda: seeded(estimator).fit(world.X, np.repeat("ant", 60)), "a single class")


def check_missing_views(estimator, world):
    """Samples that lack a view get the same predictions in all input forms, or a ValueError."""
    X = world.X.drop_views(0.3, random_state=0)
    try:
        model = seeded(estimator).fit(X, world.y)
    except ValueError:
        return
    answers = said(model, X)
    if not np.isfinite(answers).all():
        raise AssertionError("there are answers that are no finite numbers.")
    cut = seeded(estimator, views=[3, 2]).fit(X.concat(), world.y)
    same(said(cut, X.concat()), answers, "rows of NaN in one table")


def check_sparse_views(estimator, world):
    """Sparse views give the same predictions as dense views, or a ValueError."""
    X = [sparse.csr_matrix(view) for view in world.views.values()]
    try:
        model = seeded(estimator).fit(X, world.y)
    except (TypeError, ValueError):
        return
    dense = seeded(estimator).fit(list(world.views.values()), world.y)
    found, wanted = said(model, X), said(dense, list(world.views.values()))
    if found.shape != wanted.shape or np.abs(found - wanted).max() > 1e-2 * np.abs(wanted).max():
        raise AssertionError("they give other answers.")


def check_samples_alone(estimator, world):
    """The prediction for a sample does not depend on the other samples."""
    model = seeded(estimator).fit(world.X, world.y)
    alone = np.concatenate([said(model, world.X[i]) for i in range(0, 60, 7)])
    same(alone, said(model, world.X)[::7], "a sample alone")


def check_bad_input(estimator, world):
    """Views of different lengths, and infinite numbers, raise a ValueError."""
    refused(lambda: seeded(estimator).fit(world.X, world.y[:-1]), "a label too few")
    labs, scan = (view.copy() for view in world.views.values())
    refused(lambda: seeded(estimator).fit([labs, scan[:-1]], world.y), "a view with a row less")
    labs[0, 0] = np.inf
    refused(lambda: seeded(estimator).fit([labs, scan], world.y), "an infinite number")


def check_weights(estimator, world):
    """If `fit` takes `sample_weight`, equal weights change nothing, and other ids are an error."""
    if has_fit_parameter(estimator, "sample_weight"):
        wanted = said(seeded(estimator).fit(world.X, world.y), world.X)
        model = seeded(estimator).fit(world.X, world.y, sample_weight=np.ones(60))
        same(said(model, world.X), wanted, "weights of 1")
        refused(
            lambda: seeded(estimator).fit(world.X, world.y, sample_weight=np.ones(59)),
            "a weight too few",
        )


def check_seed(estimator, world):
    """The same seed gives the same predictions, in a second `fit` too; the data do not change."""
    before = world.flat.copy()
    model = seeded(estimator).fit(world.X, world.y)
    wanted = said(model, world.X)
    np.random.seed(0)  # noqa: NPY002, the global generator, which `fit` must not use
    spared = np.random.random_sample()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    same(said(seeded(estimator).fit(world.X, world.y), world.X), wanted, "the same seed")
    same(said(model.fit(world.X, world.y), world.X), wanted, "a second fit")
    if np.random.random_sample() != spared:  # noqa: NPY002
        raise AssertionError("the global random generator is used.")
    if (world.flat != before).any():
        raise AssertionError("`fit` changes X.")


def check_pickle(estimator, world):
    """A pickled model gives the same predictions."""
    model = seeded(estimator).fit(world.X, world.y)
    same(said(pickle.loads(pickle.dumps(model)), world.X), said(model, world.X), "the copy")


def check_model_selection(estimator, world):
    """It works in a Pipeline, in cross-validation and in a grid search, on a MultiView."""
    pipeline = make_pipeline(PerView(StandardScaler()), seeded(estimator))
    scores = cross_val_score(pipeline, world.X, world.y, cv=3, error_score="raise")
    if not np.isfinite(scores).all():
        raise AssertionError(f"the scores are {scores}.")
    grid = {"perview__transformer": [StandardScaler(), "passthrough"]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(world.X, world.y)
    if np.shape(search.predict(world.X)) != (60,):
        raise AssertionError("a search does not predict a label for each sample.")


def _frame(world):
    from pandas import DataFrame

    columns = [f"{n}__{j}" for n, view in world.views.items() for j in range(view.shape[1])]
    return DataFrame(world.flat, columns=columns)


CHECKS = (
    check_constructor,
    check_kind,
    check_not_fitted,
    check_input_forms,
    check_views_by_name,
    check_ids,
    check_labels,
    check_missing_views,
    check_sparse_views,
    check_samples_alone,
    check_bad_input,
    check_weights,
    check_seed,
    check_pickle,
    check_model_selection,
)

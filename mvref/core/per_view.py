"""One scikit-learn transformer, or one classifier, for every view.

:class:`PerView` transforms every view. :class:`PerViewClassifier` fits one classifier per view and
combines their predictions. A sample that lacks a view is not passed to the member of the view.
"""

from contextlib import contextmanager

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from .input import (
    Any,
    Estimators,
    Literal,
    Mapping,
    MultiView,
    Self,
    ViewColumns,
    Views,
    check_length,
    rows_of,
    validate_views,
)

WORDS = ("passthrough", "drop")


class Several(_BaseComposition):
    """Several members of one view, by name: pairs, or the names that ``make_pipeline`` gives."""

    def __init__(self, members):
        if not all(isinstance(member, tuple) and len(member) == 2 for member in members):
            members = make_pipeline(*members).steps
        self.members = members

    def get_params(self, deep=True):
        """Return the members, and their parameters."""
        params = self._get_params("members", deep=deep)
        del params["members"]
        return params

    def set_params(self, **params):
        """Set members, or their parameters."""
        return self._set_params("members", **params)


class ByView:
    """Members by view name as parameters: ``blood__n_components``, as in a ColumnTransformer.

    ``_members`` names the parameter that holds one member, a sequence of them, or a mapping from
    view names.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep`, the parameters of members as ``<view>__<name>``.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        params : dict
        """
        params = super().get_params(deep)
        members = params[self._members]
        if deep and isinstance(members, Mapping):
            for view, member in members.items():
                params[view] = member
                member = Several(member) if isinstance(member, list) else member
                if hasattr(member, "get_params") and not isinstance(member, type):
                    inner = member.get_params()
                    params |= {f"{view}__{name}": value for name, value in inner.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, a view's member, or ``<view>__<name>`` of a member.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self : object
        """
        if self._members in params:
            setattr(self, self._members, params.pop(self._members))
        members = getattr(self, self._members)
        if isinstance(members, Mapping):
            replaced = {view: params.pop(view) for view in members if view in params}
            for view, member in {**members, **replaced}.items():
                given = [name for name in params if name.startswith(f"{view}__")]
                if given and isinstance(member, list):
                    own = {name.removeprefix(f"{view}__"): params.pop(name) for name in given}
                    replaced[view] = Several(member).set_params(**own).members
            if replaced:  # in a new mapping: the caller's stays as it is
                setattr(self, self._members, {**members, **replaced})
        return super().set_params(**params)

    def _member_of_each(self, names):
        """Return a member for every view name; views that a mapping leaves out get `remainder`."""
        members = getattr(self, self._members)
        if isinstance(members, Mapping):
            unknown = [view for view in members if view not in names]
            if unknown:
                raise ValueError(f"{self._members} names the views {unknown}, X has {names}.")
            taken = [view for view in members if view in self.get_params(deep=False)]
            if taken:
                raise ValueError(
                    f"{self._members} has views with the names {taken}, which are parameters of "
                    f"{type(self).__name__}. Rename these views."
                )
            left = [view for view in names if view not in members]
            if left and self.remainder is None:
                raise ValueError(
                    f"{self._members} does not name the views {left}. Name every view, or set "
                    "remainder."
                )
            members = [members.get(view, self.remainder) for view in names]
        elif not isinstance(members, list | tuple):
            members = [members] * len(names)
        if len(members) != len(names):
            raise ValueError(
                f"{self._members} has {len(members)} entries, but X has {len(names)} views."
            )
        return members

    def _sk_visual_block_(self):
        """Return one branch per view for the HTML representation."""
        from sklearn.utils._repr_html.estimator import _VisualBlock

        members = getattr(self, self._members)
        names = getattr(self, "view_names_", None)
        if names is not None:
            members = dict(zip(names, self._member_of_each(names), strict=True))
        elif isinstance(members, Mapping):
            members = {**members, "remainder": self.remainder}
        elif isinstance(members, list | tuple):
            members = {f"view {v}": member for v, member in enumerate(members)}
        else:
            members = {"each view": members}
        return _VisualBlock("parallel", list(members.values()), names=list(members))


@contextmanager
def naming(view, member):
    """Add the name of the view to the error of a member."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"view {view!r}, {type(member).__name__}: {error}") from error


class PerView(ByView, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Transformer for multi-view data: apply a scikit-learn transformer to each view.

    Parameters
    ----------
    transformer : transformer, "passthrough", or sequence or mapping of them, default="passthrough"
        One transformer, cloned for every view; or one per view in order; or a mapping from view
        names, whose transformers have the parameters ``<view>__<name>`` in a grid search.
        "passthrough" keeps a view as it is, "drop" removes it.
    remainder : transformer, "passthrough" or "drop", default="passthrough"
        Transformer of the views that a mapping does not name.
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`

    Attributes
    ----------
    transformers_ : list of V fitted transformers, "passthrough" or "drop"
    n_features_in_ : int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    PerViewClassifier : One classifier per view.

    Notes
    -----
    A transformer is fitted on, and applied to, the samples that have its view; a missing view stays
    missing. A view given as a data frame is passed on as a data frame, so that a ColumnTransformer
    can select columns by name, and a text view as a 1-D array; so is a frame of one column if the
    transformer takes texts, as a TfidfVectorizer does. The output is always a MultiView, whatever
    ``set_output`` or scikit-learn's ``transform_output`` request, and keeps the column names.
    Metadata such as ``sample_weight`` is not routed to the transformers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mvref import MultiView, PerView
    >>> X = MultiView({"blood": np.arange(6.0).reshape(3, 2), "image": np.eye(3)})
    >>> PerView(StandardScaler()).fit_transform(X)
    MultiView(3 samples, blood: 2, image: 3)
    >>> per_view = PerView({"blood": StandardScaler()}, remainder="drop")
    >>> per_view.set_params(blood__with_std=False).fit_transform(X)
    MultiView(3 samples, blood: 2)
    """

    _members = "transformer"

    def __init__(
        self,
        transformer: Literal["passthrough"] | Estimators = "passthrough",
        *,
        remainder: Literal["passthrough", "drop"] | BaseEstimator = "passthrough",
        views: ViewColumns | None = None,
    ):
        self.transformer = transformer
        self.remainder = remainder
        self.views = views

    def fit(self, X: Views, y: object = None) -> Self:
        """Fit one transformer on each view.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array
        y : ignored, or target passed on to the transformers

        Returns
        -------
        self : PerView
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Views, y: object = None) -> MultiView:
        """Fit one transformer on each view, and transform the view.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array
        y : ignored, or target passed on to the transformers

        Returns
        -------
        X : MultiView
        """
        X = validate_views(self, X, reset=True, raw=True, y=y)
        if y is not None:
            y = np.asarray(y)
            check_length(y, X.n_samples)
        self.transformers_, self._of_nobody, self._of_texts = [], [], []
        views = []
        for v, transformer in enumerate(self._member_of_each(X.names)):
            name, seen = X.names[v], np.flatnonzero(X.observed[:, v])
            _check_transformer(transformer)
            if not len(seen):
                raise ValueError(f"view {name!r} is missing in every sample.")
            out = X.views[v]
            if not isinstance(transformer, str):
                transformer = clone(transformer)
                with naming(name, transformer):
                    labels = None if y is None else y[seen]
                    table = rows_of(as_table(X, v, transformer), seen)
                    out = _as_many(transformer.fit_transform(table, labels), len(seen))
                out = spread(out, X.observed[:, v])
            self.transformers_.append(transformer)
            self._of_nobody.append((out.shape[1:], sparse.issparse(out)))
            self._of_texts.append(X.views[v].ndim == 1)
            views.append(out)
        return self._together(views, X)

    def transform(self, X: Views) -> MultiView:
        """Transform each view.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array

        Returns
        -------
        X : MultiView; the transformed views; a missing view stays missing
        """
        check_is_fitted(self, "transformers_")
        X = validate_views(self, X, reset=False, raw=True)
        views = []
        for v, transformer in enumerate(self.transformers_):
            out, seen = X.views[v], np.flatnonzero(X.observed[:, v])
            if not isinstance(transformer, str):
                if len(seen):
                    with naming(X.names[v], transformer):
                        table = rows_of(as_table(X, v, transformer), seen)
                        out = _as_many(transformer.transform(table), len(seen))
                else:  # no sample has the view: no rows, but the fitted width
                    width, is_sparse = self._of_nobody[v]
                    out = (sparse.csr_matrix if is_sparse else np.empty)((0, *width))
                out = spread(out, X.observed[:, v])
            views.append(out)
        return self._together(views, X)

    def _together(self, views, X):
        """Return the views that are not dropped, with the names of their columns."""
        kept = [v for v, t in enumerate(self.transformers_) if not _is(t, "drop")]
        if not kept:
            raise ValueError(f"transformer drops every view of {X.names}. Keep at least one.")
        return MultiView(
            [views[v] for v in kept],
            names=[X.names[v] for v in kept],
            feature_names=[self._columns_out(v) for v in kept],
        )._with_samples_of(X)

    def _columns_out(self, v):
        """Return the column names of a transformed view; None where they would be made up."""
        transformer, columns = self.transformers_[v], self.view_feature_names_[v]
        if isinstance(transformer, str):
            return columns
        named = columns is not None or self._of_texts[v]
        try:
            return (
                [str(column) for column in transformer.get_feature_names_out()] if named else None
            )
        except AttributeError:  # a step has no names
            return None

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return ``<view>__<feature>`` for every column of the concatenated transformed views.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        names : array of str
        """
        check_is_fitted(self, "transformers_")
        names = []
        for v, transformer in enumerate(self.transformers_):
            features = self._columns_out(v)
            if features is None:
                features = [f"x{j}" for j in range(self.view_widths_[v])]
                if not isinstance(transformer, str):
                    features = transformer.get_feature_names_out(features)
            if not _is(transformer, "drop"):
                names += [f"{self.view_names_[v]}__{feature}" for feature in features]
        return np.array(names, dtype=object)

    def set_output(self, *, transform: object = None) -> Self:
        """Do nothing: the output is always a MultiView, whose columns keep their names.

        Parameters
        ----------
        transform : ignored

        Returns
        -------
        self : PerView
        """
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        several = isinstance(self.transformer, Mapping | list | tuple | str)
        inner = [] if several else [get_tags(self.transformer)]
        tags.input_tags.sparse = all(t.input_tags.sparse for t in inner)
        tags.input_tags.allow_nan = all(t.input_tags.allow_nan for t in inner)
        return tags


def _is(member, word):
    return isinstance(member, str) and member == word


def _check_transformer(transformer):
    word = isinstance(transformer, str) and transformer in WORDS
    usable = hasattr(transformer, "transform") and not isinstance(transformer, type)
    if not word and not usable:
        raise ValueError(
            f"transformer must be a transformer, 'passthrough' or 'drop', got {transformer!r}."
        )


def as_table(X, v, member):
    """Return a view as its member gets it: a frame if its columns have names, else as stored.

    A text transformer gets a one-column frame as a series: of a frame it would read the header.
    """
    view, columns = X.views[v], X.feature_names[v]
    if not isinstance(view, np.ndarray):
        frame_of_one = view.ndim == 2 and view.shape[1] == 1 and not sparse.issparse(view)
        return view.iloc[:, 0] if frame_of_one and _reads_texts(member) else view
    if columns is None:
        return view
    from pandas import DataFrame

    return DataFrame(view, columns=columns)


def _reads_texts(member):
    """Return whether a member is a transformer of texts, or a pipeline that begins with one."""
    while hasattr(member, "steps"):
        member = member.steps[0][1]
    tags = get_tags(member).input_tags if hasattr(member, "__sklearn_tags__") else None
    return tags is not None and tags.string and not tags.two_d_array


def _as_many(out, n_samples):
    """Return the transformed rows; raise a ValueError if their number has changed."""
    if out.shape[0] != n_samples:
        raise ValueError(
            f"The transformer returned {out.shape[0]} rows for {n_samples} samples. If it takes "
            "texts, use a view of one column, or make_column_transformer((transformer, 'column'))."
        )
    return out


def spread(out, seen):
    """Put transformed rows where `seen` is true, and rows of NaN elsewhere."""
    if seen.all():
        return out
    full = np.full((len(seen), out.shape[1]), np.nan)
    full[seen] = out.toarray() if sparse.issparse(out) else out
    return sparse.csr_matrix(full) if sparse.issparse(out) else full

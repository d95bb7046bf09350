"""MVM: multi-view machines, interactions of all orders between views in linear time.

B. Cao, H. Zhou, P. S. Yu, "Multi-view Machines", arXiv 1506.01110, 2015. Chapters: part IV.

Problem   min over A_1 .. A_V of  1/n sum_i l(yhat_i, y_i) + lambda Omega(A)             (Eq. 10)
          with weights of the samples: sum_i w_i l(yhat_i, y_i) / sum_i w_i in place of the mean
          yhat = sum_f prod_v <z_v, a_vf>,   z_v = [x_v; 1]                         (Eqs. 6, 9)
          which is Eq. (3), a weight for every product of features of different views, with
          the tensor of all weights W = sum_f a_1f o ... o a_Vf                          (Eq. 5)
          l: squared (11), logistic (12), hinge (13);  Omega: L2 (14) or smoothed L1 (15)
          (the text available to us lacks the formulas; they are reconstructed from its words)

Symbols   paper            code             shape
          n, m, I_v        n, V, d_v        samples, views, features of view v
          k                n_factors        number of factors
          A^(v)            factors_[v]      (d_v + 1, k); the last row is the bias row
          z^(v)            Z[v]             (n, d_v + 1), constant last
          z^(v)T A^(v)     S[v]             (n, k)
          w                order_weights()  Eq. (8) and its kin of higher order
          lambda, epsilon  alpha, smoothing

Algorithm (the function that does each step)
          Eq. (9): ``prefix_products``, and Eq. (16) for all parameters: ``leave_one_out``, both in
          ``model``, O(k (nnz + nV)) for n samples;  Eqs. (11)-(15) and (17)-(21):
          :mod:`mvref.core.losses`;  Algorithm 1: line 1 ``start_factors`` in ``model``, the others
          ``AdaGrad`` and ``sgd`` in ``solvers``, with ``lbfgs``;  alternating least squares:
          ``als`` in ``solvers``, by blocks or, for one-hot views in O(n k V), by ``Columns``, with
          majorised losses and penalties from the data in :mod:`mvref.core.ridge`;  the orders:
          ``contributions``, ``subset_weights`` in ``model``.

Departures from the paper, each explained in the chapter
          * the start is ``init="live"``: from small random numbers, the paper's, four views or
            more go to A = 0, with L2 a local minimum for three views or more (erratum M2);
          * products of the other views by prefixes and suffixes, 3 V multiplications in place of
            V (V - 2) one by one, and never by division (M6);
          * the hinge has a kink at its minimum, where a gradient cannot tell L-BFGS to stop: by SGD
            only, or squared (M5);
          * on sparse views SGD penalises the rows of A that a batch touches, bias rows always,
            and AdaGrad chooses its steps (M4);
          * the loss is a mean over samples, so that alpha means the same for every n;
          * the solvers measure factors in units of the features they multiply;
          * after a sweep of ALS the norms of a factor are balanced over the views;
          * a missing view is z = (0, .., 0, 1): no interaction with it, and its bias row stays.
"""

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight

from ..core.base import (
    MultiViewClassifier,
    MultiViewRegressor,
    logistic_probabilities,
    one_against_rest,
)
from ..core.input import (
    ArrayLike,
    ClassWeight,
    Literal,
    RandomState,
    Self,
    Sequence,
    Splitting,
    ViewColumns,
    Views,
    check_choice,
    check_number,
    check_votable,
    labels_of,
    one_blas_thread,
    validate_numbers,
    validate_targets,
    validate_views,
)
from ..core.losses import LOSSES
from .machine import MultiViewMachine, streams


def is_logistic(estimator):
    """Return True if the scores are from a logistic model; otherwise raise the reason."""
    if estimator.loss != "logistic":
        raise AttributeError(
            f"predict_proba needs loss='logistic', got loss={estimator.loss!r}. For probabilities "
            "with any loss, wrap the model in scikit-learn's CalibratedClassifierCV."
        )
    return True


class MVMClassifier(Splitting, MultiViewClassifier, MultiViewMachine):
    """Multi-view machine for classification: a tensor factorisation of all feature interactions.

    The score is a polynomial with every product of features of different views, whose weights form
    a tensor of rank k. Several classes are handled one-vs-rest.

    Parameters
    ----------
    n_factors : int, default=8
        Rank k. An even number lets the live start begin at score 0; with groups, a power of 2 does.
    loss : {"logistic", "squared_hinge", "hinge", "squared"}, default="logistic"
        Loss of the scores. "hinge" needs solver="sgd"; "squared" has the targets -1 and +1.
    alpha : float or "auto", default=1e-3
        lambda, weight of the penalty relative to the mean loss. "auto" estimates from the data a
        penalty for each factor of every view; it needs "als" and the squared or logistic loss.
    penalty : {"l2", "l1"}, default="l2"
        Penalty on all factors and their bias rows; if these were free, factors could hide in them.
        "l1" is smoothed and makes weights small, not exactly 0.
    smoothing : float, default=1e-8
        epsilon of "l1": weights below its root, 1e-4 if bias rows are about 1, count as 0.
    solver : {"auto", "lbfgs", "sgd", "als"}, default="auto"
        L-BFGS; stochastic gradients with the step sizes of AdaGrad; or alternating least squares,
        which needs penalty="l2" and any loss but "hinge", and is best for one-hot views. "auto" is
        "als" with ``alpha="auto"``, else "lbfgs".
    init : {"live", "paper"}, default="live"
        "live": bias rows of -1 and +1, small random feature rows. "paper": all entries small and
        random, which collapses to zero with four or more views if they are too small.
    init_scale : float, default=0.1
        Standard deviation sigma of the entries in "paper"; in "live" of the feature rows, divided
        by the root of the number of features and by their size if that is above 1.
    n_init : int, default=1
        Number of random starts; for every class, the start with the smallest training objective is
        kept. The cost is multiplied by `n_init`.
    groups : list of lists of int and str, default=None
        Groups of views, by position or name, which may overlap: the score is the sum of one
        multi-view machine per group. None: one group of all views.
    shared_factors : bool, default=True; whether groups share the factors of a view
    learning_rate : float, default=0.1
        Maximum change of a parameter in one step of "sgd", divided by the size of the features if
        that is above 1.
    batch_size : int, default=128; number of samples in a step of "sgd"
    max_iter : int, default=1000; maximum number of iterations, epochs ("sgd") or sweeps ("als")
    tol : float, default=1e-5
        Largest entry of the gradient ("lbfgs"; with respect to factors in units of their
        curvature), or fraction by which the objective must fall in an epoch or sweep; with
        ``alpha="auto"``, ten times `tol` are the nats per sample.
    early_stopping : bool, default=False
        For "sgd": stop by the loss on a tenth of every class, and keep the epoch with the smallest.
    n_iter_no_change : int, default=10; epochs without progress after which "sgd" stops
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply ``sample_weight``; the loss is the weighted mean.
    n_jobs : int or None, default=None; number of classes and starts trained in parallel (joblib)
    verbose : int, default=0; 1 shows a progress bar over the iterations
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of start, order, hold-out

    Attributes
    ----------
    factors_ : list of V arrays (d_v + 1, k)
        The last row is the bias row. With more than two classes (n_classes, d_v + 1, k). With
        groups and ``shared_factors=False`` one array for each view of each group.
    factor_views_, terms_ : lists of int, and of lists of int
        View of each array in `factors_`; and for every group, its arrays in `factors_`.
    loss_curve_, validation_curve_ : arrays (iterations + 1,), or lists of them
        Eq. (10) at the start and after every iteration, or with ``alpha="auto"`` the free energy
        per sample, a bound of minus the log evidence; and, with ``early_stopping`` only, the mean
        loss on the samples held out. Both are of the start that was kept.
    objectives_ : array (n_init,), or (n_classes, n_init); final ``loss_curve_`` of every start
        With ``early_stopping``, its value in the epoch that was kept.
    alpha_ : list of V arrays (2, k), or (n_classes, 2, k)
        With ``alpha="auto"`` only: the estimated penalties of every factor's feature rows and bias.
    n_iter_, n_parameters : int, iterations, the maximum over the classes; and learnt parameters
    classes_, n_features_in_ : sorted array of labels, and int, number of columns of all views
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    MVMRegressor : The same for regression.
    mvref.rivals.FMClassifier, mvref.rivals.STMClassifier : Related factorisation methods.

    Notes
    -----
    The score multiplies V numbers per factor. Standardise the views and, if they have many
    features, divide each view by the root of their number; one-hot views need no scaling. With
    thousands of levels, though, the rows of the live start are tiny, because they are divided by
    the root of the number of levels: with "sgd" use an ``init_scale`` larger by that root, or
    ``init="paper"`` if there are two views.
    If products overflow, the last finite factors are kept, and a warning says what to change.
    The objective is not convex: another `random_state` can give another minimum, and ``n_init``
    keeps the best of several; ``objectives_`` shows how much they differ. With ``alpha="auto"`` the
    factors are posterior means, a factor without evidence is 0, and groups must not share factors.
    With "sgd", a weight multiplies the gradient of its sample, and samples are held out by their
    number: a weight of 2 is equivalent to repeating the sample in expectation only.

    References
    ----------
    Cao, Zhou and Yu, arXiv 1506.01110, 2015. Duchi, Hazan and Singer, JMLR 12, 2011 (AdaGrad).

    Examples
    --------
    A class that depends on an interaction of two views, and on neither view alone:

    >>> import numpy as np
    >>> from mvref import MVMClassifier
    >>> rng = np.random.default_rng(0)
    >>> views = [rng.normal(size=(200, 3)) for _ in range(3)]
    >>> y = views[0][:, 0] * views[1][:, 1] > 0
    >>> model = MVMClassifier(n_factors=4, random_state=0).fit(views[:2], y)
    >>> bool(model.score(views[:2], y) > 0.95)
    True
    >>> sorted(model.order_weights())
    [(), ('view_0',), ('view_0', 'view_1'), ('view_1',)]
    """

    def __init__(
        self,
        n_factors: int = 8,
        *,
        loss: Literal["logistic", "squared_hinge", "hinge", "squared"] = "logistic",
        alpha: float | Literal["auto"] = 1e-3,
        penalty: Literal["l2", "l1"] = "l2",
        smoothing: float = 1e-8,
        solver: Literal["auto", "lbfgs", "sgd", "als"] = "auto",
        init: Literal["live", "paper"] = "live",
        init_scale: float = 0.1,
        n_init: int = 1,
        groups: Sequence[Sequence[int | str]] | None = None,
        shared_factors: bool = True,
        learning_rate: float = 0.1,
        batch_size: int = 128,
        max_iter: int = 1000,
        tol: float = 1e-5,
        early_stopping: bool = False,
        n_iter_no_change: int = 10,
        class_weight: ClassWeight | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        views: ViewColumns | None = None,
        random_state: RandomState | None = None,
    ):
        self.n_factors, self.loss = n_factors, loss
        self.alpha, self.penalty, self.smoothing = alpha, penalty, smoothing
        self.solver, self.max_iter, self.tol = solver, max_iter, tol
        self.init, self.init_scale, self.n_init = init, init_scale, n_init
        self.groups, self.shared_factors = groups, shared_factors
        self.learning_rate, self.batch_size = learning_rate, batch_size
        self.early_stopping, self.n_iter_no_change = early_stopping, n_iter_no_change
        self.class_weight, self.n_jobs, self.verbose = class_weight, n_jobs, verbose
        self.views, self.random_state = views, random_state

    def _fit(self, X, codes, weights, groups):
        signs = one_against_rest(codes, len(self.classes_))
        self._fit_machines(X, signs, codes, weights, groups)

    @available_if(streams)
    @one_blas_thread()
    def partial_fit(self, X: Views, y: ArrayLike, classes: ArrayLike | None = None,
                    sample_weight: ArrayLike | None = None) -> Self:  # fmt: skip
        """Update the model by one pass over new samples, continuing stochastic gradient descent.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples
        y : array-like of shape (n,)
        classes : array-like of labels, all of them; needed in the first call, optional afterwards
        sample_weight : array-like of n numbers >= 0, default=None
            Weight of a sample, relative to the mean over all samples that have been passed so far.

        Returns
        -------
        self : MVMClassifier

        Raises
        ------
        ValueError
            For wrong input, a parameter out of range, a label that is not in `classes`, or
            ``class_weight="balanced"``, which needs all samples of a stream at once.
        """
        first = getattr(self, "_states", (None,))[0] is None
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        X = validate_views(self, X, reset=first, y=y, sample_weight=sample_weight)
        self._check_parameters()
        check_votable(X)
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={self.class_weight!r} needs all samples at once. In partial_fit, "
                "pass a dict, or sample_weight."
            )
        for number in (self.class_weight or {}).values():
            check_number(number, "class_weight", low=0, low_open=True)
        if first:
            validate_targets(self, classes, np.size(classes))  # type: ignore[arg-type]
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={classes!r} differs from the first call, {self.classes_.tolist()}."
            )
        y = labels_of(self, y, X.n_samples)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y has the labels {unknown.tolist()}, which are not in classes, "
                f"{self.classes_.tolist()}."
            )
        codes = np.searchsorted(self.classes_, y)
        signs = one_against_rest(codes, len(self.classes_))
        weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        of_class = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_)
        self._partial_fit_machines(X, signs, weights * of_class[codes], first)
        return self

    @available_if(is_logistic)
    def predict_proba(self, X: Views) -> np.ndarray:
        """Predict the probabilities of the logistic model, 1 / (1 + e^{-score}).

        Only with ``loss="logistic"``. They are not calibrated: if the factors fit the training
        samples well, as with a small `alpha`, they are much too close to 0 and 1, and weights of
        samples or classes shift them. For calibrated probabilities, with any loss, wrap the model
        in scikit-learn's ``CalibratedClassifierCV``.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples

        Returns
        -------
        p : array, shape (n, n_classes)
            With more than two classes, the one-vs-rest probabilities divided by their sum: an
            approximation, not a joint model of the classes.
        """
        return logistic_probabilities(self._scores(self._validated(X)))

    def _check_parameters(self):
        check_choice(self.loss, "loss", list(LOSSES))
        super()._check_parameters()
        if self.loss == "hinge" and self.solver != "sgd":
            raise ValueError(
                f"loss='hinge' has no derivative at its minimum, which solver={self._solver!r} "
                "needs. Use solver='sgd' or loss='squared_hinge'."
            )


class MVMRegressor(Splitting, MultiViewRegressor, MultiViewMachine):
    """Multi-view machine for regression, with the squared loss.

    Parameters
    ----------
    n_factors : int, default=8; rank k
    loss : {"squared"}, default="squared"
    alpha : float or "auto", default=1e-3
        lambda, weight of the penalty relative to the mean loss; "auto", with solver="als",
        estimates the penalties and the noise from the data.
    penalty : {"l2", "l1"}, default="l2"; penalty on all factors and their bias rows
    smoothing : float, default=1e-8; epsilon, by which "l1" is smoothed
    solver : {"auto", "lbfgs", "sgd", "als"}, default="auto"
        L-BFGS, stochastic gradients, or alternating least squares (with "l2").
    init : {"live", "paper"}, default="live"; bias rows of -1 and +1, or all entries small, random
    init_scale : float, default=0.1; standard deviation of the small entries
    n_init : int, default=1; random starts, of which the smallest training objective is kept
    groups : list of lists of int and str, default=None
        Groups of views, with one multi-view machine each, whose scores are added; None: one group
        of all.
    shared_factors : bool, default=True; whether groups share the factors of a view
    learning_rate : float, default=0.1; maximum change of a parameter in one step of "sgd"
    batch_size : int, default=128; number of samples in a step of "sgd"
    max_iter : int, default=1000; maximum number of iterations, epochs or sweeps
    tol : float, default=1e-5; largest entry of the gradient, or fraction the objective must fall by
        With ``alpha="auto"``, ten times `tol` are the nats per sample that a sweep must gain.
    early_stopping : bool, default=False
        For "sgd": stop by the loss on a tenth of the samples, and keep the epoch with the smallest.
    n_iter_no_change : int, default=10; epochs without progress after which "sgd" stops
    n_jobs : int or None, default=None; number of starts trained in parallel (joblib)
    verbose : int, default=0; 1 shows a progress bar
    views : sequence or mapping, default=None; widths, slices, indices or names that split a 2-D `X`
    random_state : int, RandomState instance or None, default=None; seed of start, order, hold-out

    Attributes
    ----------
    factors_ : list of V arrays (d_v + 1, k)
        The last row is the bias row. With groups and ``shared_factors=False`` one array for each
        view of each group.
    factor_views_, terms_, loss_curve_, validation_curve_, alpha_, n_iter_, n_parameters
        As in :class:`MVMClassifier`.
    objectives_, n_features_in_ : array (n_init,), final ``loss_curve_`` of every start; int
    view_names_, view_widths_, view_feature_names_ : lists; name, width, columns of each view

    See Also
    --------
    MVMClassifier : The same for classification.

    Notes
    -----
    The penalty also applies to the global bias: standardise the targets, for example with
    scikit-learn's ``TransformedTargetRegressor``, and the views as for :class:`MVMClassifier`; with
    "sgd", the note on weights there applies here, too.

    References
    ----------
    Cao, Zhou and Yu, arXiv 1506.01110, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from mvref import MVMRegressor
    >>> rng = np.random.default_rng(0)
    >>> views = [rng.normal(size=(200, 3)) for _ in range(2)]
    >>> y = 1 + views[0][:, 0] + views[0][:, 1] * views[1][:, 2]
    >>> model = MVMRegressor(n_factors=4, alpha=1e-4, random_state=0).fit(views, y)
    >>> weights = model.order_weights()
    >>> float(weights[()].round(1)), float(weights[("view_0", "view_1")][1, 2].round(1))
    (1.0, 1.0)
    """

    def _fit(self, X, y, weights, groups):
        self._fit_machines(X, [y], np.zeros(len(y), dtype=int), weights, groups)

    @available_if(streams)
    @one_blas_thread()
    def partial_fit(self, X: Views, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Update the model by one pass over new samples, continuing stochastic gradient descent.

        Parameters
        ----------
        X : MultiView, list of arrays, or 2-D array of n samples
        y : array-like of n numbers
        sample_weight : array-like of n numbers >= 0, default=None
            Weight of a sample, relative to the mean over all samples that have been passed so far.

        Returns
        -------
        self : MVMRegressor
        """
        first = getattr(self, "_states", (None,))[0] is None
        X = validate_views(self, X, reset=first, y=y, sample_weight=sample_weight)
        self._check_parameters()
        y = validate_numbers(self, y, X.n_samples)
        check_votable(X)
        weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        self._partial_fit_machines(X, [y], weights, first)
        return self

    def _check_parameters(self):
        check_choice(self.loss, "loss", ["squared"])
        super()._check_parameters()

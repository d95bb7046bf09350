"""All methods that take missing views, and what else can be done about them: accuracy by ratio.

Figure 5 of MVL-SVM compares MVL-SVM's treatment with that of per-view SVMs. This is the same
question for every method of the book that takes gaps. No paper prints such numbers.

Protocol
  data     mfeat (6 views), digits (4 quarters of the image), uwave (3 axes of a movement), and
           "moons-disturbed": two moons seen by two cameras that share a disturbance, and a third
           view that measures the disturbance and is useless alone. `N_TRAIN` samples train,
           `N_TEST` test, stratified, in `N_REPEATS` repeats. The moons are drawn afresh for each,
           the others are samples of the same pool.
  gaps     `RATIOS` of the (sample, view) pairs are missing completely at random, in the same ratio
           in training and test, by ``MultiView.drop_views``: no sample loses all its views. The
           draws are nested: what is missing at .1 is missing at .2. They are the same for all
           methods and treatments. Methods with their own treatment run at all ratios, with others
           at `TREATED_RATIOS`.
  scale    features of mean 0 and variance 1 over the training samples that have the view, divided
           by the root of their number, so that a row of a view has mean squared norm 1.
  tuning   one parameter per method, three values, by three stratified folds of the training part
           (on real data, for time, by the first of the three: a third), where the treatment is
           learnt from the fold's own training samples. Ties go to the first value, the strongest
           penalty. MwMvC2, MVMV, Fusion and Concat have default trees and choose nothing, and the
           ridge of the regression is the same everywhere. The test part is used once.
  rest     where less than two classes are left to train on, or MVL-SVM has no complete sample to
           be a landmark, the commonest class of the training part is predicted. What remains
           missing (laplacian, drop) goes to the method's own treatment; LogReg has none, and takes
           the mean of what it trains on.
  time     processor time of the treatment of both parts and of the last training, in one thread.

Methods and what they do by themselves
  MVLSVM      imputes similarities to landmarks by Eq. (11); landmarks are complete samples
  PerViewSVM, MVMV   a view trains and votes on the samples that have it
  CoLabeling  the same, but with mean scores
  SVM2K       leaves out the loss of a view, and the agreement of a pair, that is not there
  MwMvC2      voters abstain
  MVPO        a missing view adds nothing to the score, nor to the disagreement
  MVNA        a machine without its view is left out, the weights of the others are rescaled
  MVM, FM     interactions with missing features are 0: the same as the mean of standard features
  Fusion      the final tree sees a vote 0;  Concat: trees that learn a branch for NaN
  LogReg      takes no gaps: the reference, with the mean

The support tensor machine is not here: products over *all* views are 0 with the first gap, and at
ratio .3 it was near chance in a trial on mfeat and digits.
"""

import numpy as np

from ..core.views import MultiView
from ..datasets import make_two_moons_views
from ..datasets._generators import rotation
from .engine import Item, derive_seed
from .halves import scale_views
from .interactions import unit_rows
from .missing_methods import METHODS, method_of, tuned_accuracy
from .problems import drop_views, load_dataset
from .tables import Cell, jobs_of
from .tuning import Split, stratified_folds, stratified_parts

DRAWN = ("moons-disturbed",)
DATASETS = (*DRAWN, "digits", "mfeat", "uwave")
N_TRAIN, N_TEST, N_FOLDS = 300, 1000, 3
FOLDS_USED = {"moons-disturbed": 3}  # to choose parameters on; else 1
N_REPEATS = {"moons-disturbed": 5, "digits": 3, "mfeat": 3, "uwave": 3}
RATIOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
TREATED_RATIOS = (0.1, 0.3, 0.5)
QUICK_RATIOS, QUICK_METHODS = (0.0, 0.3), ("PerViewSVM", "LogReg")
MOONS = {"noise": 0.1, "view_noise": 0.05}
DISTURBANCE = 0.6


# ---------------------------------------------------------------------------------- samples


def draw_sample(name, missing=0.0, seed=0, *, n_train=N_TRAIN, n_test=N_TEST, gaps=None):
    """Draw samples to train and to test on, drop views, and scale.

    gaps: ``gaps(X, y, part, seed)`` drops views in another way; `part` is "train" or "test".
    """
    if name in DRAWN:
        X, y = disturbed_moons(n_train + n_test, derive_seed(seed, "moons"))
    else:
        data = load_dataset(name)
        X, y = data.X, data.y
    sizes = {"train_size": n_train, "test_size": n_test}
    chosen = np.concatenate(stratified_parts(y, derive_seed(seed, "split"), **sizes))
    X, y = X[chosen], y[chosen]
    train, test = np.split(np.arange(len(y)), [n_train])
    parts = {"train": train, "test": test}
    if gaps is None:
        X = drop_views(X, parts, missing, seed)
    else:
        observed = [
            gaps(X[rows], y[rows], part, derive_seed(seed, part)).observed
            for part, rows in parts.items()
        ]
        X = MultiView(X.views, names=X.names, observed=np.vstack(observed))
    folds = stratified_folds(y, train, N_FOLDS, derive_seed(seed, "folds"))
    X = unit_rows(scale_views(X, train))
    return Split(X, y, train, test, folds[: FOLDS_USED.get(name, 1)])


def disturbed_moons(n_samples, seed):
    """Draw two moons, two cameras with a common disturbance, and a gauge of it."""
    rng = np.random.RandomState(seed)
    moons = make_two_moons_views(n_samples, n_views=2, random_state=rng, **MOONS)
    e = DISTURBANCE * rng.standard_normal((n_samples, 2))
    turned = [e @ rotation(angle).T for angle in moons.meta["angles"]]
    left, right = (view + t for view, t in zip(moons.X.views, turned, strict=True))
    gauge = e + MOONS["view_noise"] * rng.standard_normal(e.shape)
    return MultiView({"left": left, "right": right, "gauge": gauge}), moons.y


# ---------------------------------------------------------------------------------- the item


def ratio(dataset, quick, rows):
    """Accuracy of every method and treatment over the ratio of missing views."""
    n_repeats, cells = 1 if quick else N_REPEATS[dataset], []
    for missing in QUICK_RATIOS if quick else RATIOS:
        shares = ("complete_train", "complete_test")
        cells.append(Cell("data", {"missing": missing}, shares, n_repeats))
        for method in QUICK_METHODS if quick else METHODS:
            treatments = METHODS[method].treatments
            for treatment in treatments if missing in TREATED_RATIOS else treatments[:1]:
                point = {"missing": missing, "treatment": treatment}
                measures = method_of(method, treatment).measures
                cells.append(Cell(method, point, measures, n_repeats))
    return jobs_of(dataset, dataset, cells, on_sample)


def on_sample(name, method, *, measures, missing, treatment=None, seed):
    """Tune and measure a method with a treatment; of "data", the shares of complete samples."""
    split = draw_sample(name, missing, seed)
    if method == "data":
        shares = [split.X.observed[rows].all(axis=1).mean() for rows in (split.train, split.test)]
        return dict(zip(measures, shares, strict=True))
    return tuned_accuracy(split, method, treatment, seed)


ITEMS = [
    Item("missing_views", "ratio", "accuracy by ratio and treatment of missing views", DATASETS,
         ratio),
]  # fmt: skip

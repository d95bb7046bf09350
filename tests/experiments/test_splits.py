"""How the experiments cut their samples into parts and folds, and by what they scale the views."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from mvref.experiments import mvm, mvna_kmhks, mvpo
from mvref.experiments.interactions import PLANTED, planted, real
from mvref.experiments.nystrom_methods import digit_split, load_split
from mvref.experiments.problems import load_halves, load_problem

TWO_VIEWS = "mfeat-zer-mor"
CUTS = [  # how a split is drawn from a seed, of which data sets
    ("problem", partial(load_problem, missing=0.3), ["mfeat", "uwave"]),
    ("problem", partial(load_problem, split=2, missing=0.3), ["flower17"]),
    ("halves", load_halves, mvpo.DATASETS),
    ("real", real, mvm.REAL),
    ("planted", lambda name, seed: planted(name, 250, seed), PLANTED),
    ("table", load_split, [*mvna_kmhks.TABLE2, "digits", TWO_VIEWS, "moons"]),
    ("fold", partial(load_split, index=2), mvna_kmhks.TABLE2),
    ("digit", lambda name, seed: digit_split(name, 3), ["optdigits"]),
]
SIZES = {  # train, test
    "problem mfeat": (1000, 1000), "problem uwave": (896, 3582), "problem flower17": (1020, 340),
    "planted": (250, 5000), "table moons": (400, 2000), "table digits": (300, 1497),
    f"table {TWO_VIEWS}": (300, 1700), "digit": (3823, 1797),
    "table lung-cancer": (17, 15), "table shuttle-landing-control": (8, 7),
}  # fmt: skip
PART_OF_THE_DATA = ("planted",)
OFFICIAL = ("problem uwave", "problem flower17", "fold", "digit")  # not drawn
UNEVEN = (*OFFICIAL, "planted", "table moons")  # classes not in their proportions
FOLDS_IN_ORDER = ("problem", "digit")
SCALED = ("halves", "real", "table", "fold")


def among(table, kind, name):
    """What a table says of a cut of a data set, or of the cut; or whether it has it."""
    found = [key for key in (f"{kind} {name}", kind) if key in table]
    return table[found[0]] if found and isinstance(table, dict) else bool(found)


@pytest.mark.data("name")
@pytest.mark.parametrize(
    ("kind", "draw", "name"), [(kind, draw, name) for kind, draw, names in CUTS for name in names]
)
def test_parts_folds_and_scales(kind, draw, name):
    drawn = name.startswith(("planted", "onehot", "moons"))
    split, same, other = (draw(name, seed=seed) for seed in (3, 3, 4))
    train, test, y = split.train, split.test, split.y
    assert np.array_equal(train, same.train) and np.array_equal(test, same.test)
    alike = np.array_equal(test, other.test) and np.array_equal(y, other.y)
    assert alike == among(OFFICIAL, kind, name)
    everyone = np.sort([*train, *test])
    if kind in PART_OF_THE_DATA:
        assert (np.diff(everyone) > 0).all() and everyone[0] >= 0 and everyone[-1] < len(y)
    else:
        assert np.array_equal(everyone, np.arange(len(y)))
    if sizes := among(SIZES, kind, name):
        assert (len(train), len(test)) == sizes
    for fit, check in split.folds:
        assert np.array_equal(np.sort([*fit, *check]), np.sort(train))
        if not among(FOLDS_IN_ORDER, kind, name):
            assert_proportional(y, fit, train)
        if name != "flower17":  # whose validation part is official
            assert len(check) == pytest.approx(len(train) / 3, abs=len(set(y)))
    if len(split.folds) > 1:
        checks = np.concatenate([check for _, check in split.folds])
        assert np.array_equal(np.sort(checks), np.sort(train))
    if not among(UNEVEN, kind, name):
        assert_proportional(y, train, everyone)
        assert_proportional(y, test, everyone)
    if kind in SCALED and not drawn:
        for view, seen in zip(split.X.views, split.X.observed[train].T, strict=True):
            assert_scaled(view[train][seen], unit_rows=kind == "real")
            assert_not_scaled_by_itself(view[test])


def assert_proportional(y, rows, whole):
    """The classes have their shares of the whole, to two samples."""
    counts = [np.sum(y[of][:, None] == np.unique(y), axis=0) for of in (rows, whole)]
    assert np.abs(counts[0] - counts[1] * len(rows) / len(whole)).max() <= 2


def assert_not_scaled_by_itself(rows):
    """The test part: what scales it are numbers of the training part."""
    if sparse.issparse(rows):
        assert rows.power(2).sum() != pytest.approx(rows.shape[0])
    else:
        assert np.abs(np.nanmean(rows, axis=0)).max() > 1e-4


def assert_scaled(rows, unit_rows):
    """Features have mean 0 and one variance; rows of sparse views have mean squared norm 1."""
    if sparse.issparse(rows):
        assert rows.power(2).sum() == pytest.approx(rows.shape[0])
        return
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-9)
    variances = rows.var(axis=0)
    expected = 1 / rows.shape[1] if unit_rows else 1
    np.testing.assert_allclose(variances[variances > 1e-20], expected)

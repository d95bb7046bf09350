"""Universes of section 5.3 of the multi-view machines, which states that sharing factors helps.

The paper has no experiments; the statement is tested on the planted one-hot problems of
:mod:`.mvm`. "rival" does not share its factors and has only the planted orders: FM27 for
pairs, FM-V for products of all views.

n_train     training samples
n_features  levels of a view: the more, the fewer samples have seen a pair
"""

from .mvm import N_STARTS, PLANTED_GRIDS, SIZES, measured_by_starts
from .universes import Multiverse, Statement

RIVALS = {"onehot-full": "FM-V", "onehot-pairwise": "FM27"}


def on_sharing(name, method, **given):
    """Tune and measure a multi-view machine, or its rival."""
    method = RIVALS[name] if method == "rival" else method
    points = PLANTED_GRIDS[method]
    return measured_by_starts(name, method, points=points, n_starts=N_STARTS, **given)


def ahead(dataset):
    """Return a function of the means: the accuracy of the multi-view machine minus its rival's."""
    return lambda means: means[dataset, "MVM", "accuracy"] - means[dataset, "rival", "accuracy"]


SHARING = Multiverse(
    name="mvm_sharing",
    title="accuracy of shared and of separate factors on one-hot data",
    datasets=tuple(RIVALS),
    axes={"n_train": tuple(SIZES), "n_features": (20, 40)},
    methods=dict.fromkeys(("MVM", "rival"), ("accuracy",)),
    function=on_sharing,
    statements={
        "products": Statement("sharing helps, products of all views", ahead("onehot-full"),
                              datasets=("onehot-full",)),
        "pairs": Statement("sharing helps, pairs of views", ahead("onehot-pairwise"),
                           datasets=("onehot-pairwise",)),
    },
    n_repeats=5,
)  # fmt: skip
MULTIVERSES = (SHARING,)
ITEMS = [SHARING.item]

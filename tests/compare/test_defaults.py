"""What a user gets who reads nothing: defaults against themselves tuned, and the work they cost."""

import numpy as np
import pandas as pd
import pytest

from mvref import all_methods
from mvref.experiments.speed_peers import draw_five_classes
from tests.compare import defaults

TABLE = pd.read_csv(defaults.__file__.replace(".py", ".csv"))
MEANT_FOR = {  # methods whose docstring says for which data the default is, and how
    **dict.fromkeys(["Concat", "Fusion", "Mono", "MVMV"], "or kernel machine is better"),
    "MVMClassifier": "divide each view by the root of their number",
}


@pytest.mark.parametrize("name", defaults.CLASSIFIERS)
def test_no_default_loses_much_to_itself_tuned(name):
    """Five points, or a fifth of the error, where that is more."""
    if name in MEANT_FOR:
        assert MEANT_FOR[name] in " ".join(all_methods()[name].__doc__.split())
        return
    rows = TABLE[(TABLE["method"] == name) & (TABLE["n"] == 100)]
    rows = rows[rows["data"] != "digits"]  # ten classes take too long here
    assert len(rows) == 4
    for data, tuned in zip(rows["data"], rows["tuned"], strict=True):
        found = np.mean([defaults.errors(name, data, 100, seed, 0)[0] for seed in range(2)])
        assert found <= max(tuned + 0.05, 1.2 * tuned), (data, found, tuned)


# What a default's time goes with, and the most of it: n = 400, five classes, three views of 20.
WORK = {
    "STMClassifier": ("n_init", 5), "L3SVM": ("n_init", 10), "MVWAB": ("n_estimators", 30),
    "RBoostSH": ("n_estimators", 100), "Mumbo": ("n_estimators", 100), "CAPO": ("cv", 5),
    "MVML": ("n_rounds", 6), "MSL": ("cv", 5), "CoLabeling": ("max_rounds", 10),
    "FMClassifier": ("n_init", 1), "MVMClassifier": ("n_init", 1), "Mono": ("cv", 5),
}  # fmt: skip
STEPS = {  # of one start at n = 400: a half more than they were when this was written
    "FMClassifier": 300, "MVMClassifier": 250, "MVPO": 170, "SVMPerf": 190, "SMS": 270,
    "SVM2K": 70, "MVLSVM": 60, "STMClassifier": 40, "MVNAKMHKS": 10, "KMHKS": 12,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(WORK.keys() | STEPS))
def test_a_default_does_no_more_work_than_it_did(name):
    """Counts, not seconds: a machine may be busy."""
    model = all_methods()[name]()
    if name in WORK:
        parameter, most = WORK[name]
        assert model.get_params()[parameter] <= most
    if name in STEPS:
        views, y = draw_five_classes(400, 0)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        if "n_init" in model.get_params():
            model.set_params(n_init=1)
        steps = int(np.max(model.fit(views, y).n_iter_))
        assert steps <= STEPS[name]

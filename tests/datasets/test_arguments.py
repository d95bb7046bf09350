"""Arguments that are refused, and the sentence that says so."""

import numpy as np
import pytest

from mvref.datasets import (
    fetch_mnist_views,
    fetch_nutrimouse,
    fetch_reuters,
    fetch_tcga,
    fetch_uci,
    fetch_voc07,
    load_digits_views,
    make_interactions,
    make_two_moons_views,
)

WRONG = {
    fetch_mnist_views: [
        ({"shift": 3}, "shift needs overlap=True, got shift=3"),
        *(
            ({"overlap": True, "shift": shift}, f"shift .*integer >= 1 and <= 7, got {shift}")
            for shift in (0, 8, 2.0, True)
        ),
        *(({"overlap": x}, f"overlap must be True or False, got {x!r}") for x in (3, "yes")),
    ],
    load_digits_views: [
        ({"kind": "halves"}, r"kind must be one of \['quarters', 'derived'\], got 'halves'"),
        ({"kind": None}, "kind must be .* got None"),
        *(({"overlap": n}, f"overlap .* >= 0 and <= 4, got {n}") for n in (5, -1, 1.5, True)),
        ({"kind": "derived", "overlap": 1}, 'overlap needs kind="quarters", got overlap=1'),
    ],
    make_two_moons_views: [
        ({"n_samples": 1}, "n_samples must be an integer >= 2, got 1"),
        ({"n_samples": 10.0}, "n_samples must be an integer >= 2, got 10.0"),
        ({"n_views": 0}, "n_views must be an integer >= 1, got 0"),
        ({"noise": -0.1}, "noise must be a number >= 0, got -0.1"),
        ({"noise": "a lot"}, "noise must be a number >= 0, got 'a lot'"),
        *(({"view_noise": x}, f"view_noise .* number >= 0, got {x}") for x in (np.nan, np.inf)),
    ],
    make_interactions: [
        ({"n_samples": 0}, "n_samples must be an integer >= 1, got 0"),
        ({"n_views": 2.0}, "n_views must be an integer >= 1, got 2.0"),
        ({"rank": 0}, "rank must be an integer >= 1, got 0"),
        ({"rank": 6}, "n_features must be an integer >= 6, got 5"),
        ({"n_features": 1}, "n_features must be an integer >= 2, got 1"),
        *(({"order": p}, f"order .*integer >= 1 and <= 3, got {p}") for p in (4, 1.5, True)),
        *(({k: "some"}, f"{k} must be one of .*'some'") for k in ("order", "sparsity", "task")),
        ({"n_views": 1, "order": "pairwise"}, "order must be an integer >= 1 and <= 1, got 2"),
        ({"n_views": 1, "order": "mixed"}, "n_views, with order=.*>= 2, got 1"),
        ({"order": "mixed", "sparsity": "one_hot"}, "sparsity, with order=.*'one_hot'"),
        ({"order": "mixed", "n_features": 2}, "n_features must be an integer >= 3, got 2"),
        ({"sparsity": 1}, "sparsity=1 gives zeros only"),
        ({"sparsity": -0.1}, "sparsity must be a number >= 0 and <= 1, got -0.1"),
        ({"sparsity": "one_hot", "n_features": 7}, "n_features must be even .* got 7"),
        ({"sparsity": "one_hot", "n_features": 2}, "n_features must be an integer >= 4, got 2"),
        ({"tail": np.inf}, "tail must be a number >= 0, got inf"),
        ({"noise": 0.6}, "noise must be a number >= 0 and <= 0.5, got 0.6"),
        ({"noise": -1.0, "task": "regression"}, "noise must be a number >= 0, got -1.0"),
        ({"n_samples": 1}, "n_samples=1 gave labels of one class only"),
    ],
    fetch_uci: [
        ({"name": "iris"}, r"name must be one of \['lung-cancer', .*got 'iris'"),
        ({"name": None}, "name must be one of"),
        ({"name": "horse-colic", "target": "pain"}, r"target of horse-colic .*'lesion', 'outcome'"),
        ({"name": "lung-cancer", "target": "lesion"}, r"target of lung-cancer .* \['type'\]"),
        ({"name": "lung-cancer", "missing": "value"}, "missing of lung.*'fill', 'drop', 'keep'"),
        ({"name": "shuttle-landing-control", "missing": "drop"}, "missing of.*'value', 'expand'"),
        ({"name": "horse-colic", "missing": "drop"}, r"missing of horse.*\['fill', 'keep'\]"),
        ({"name": "house-votes-84", "part": "data"}, r"part of house.*must be one of \['all'\]"),
        ({"name": "horse-colic", "part": "test"}, r"part of horse-colic .*\['all', 'data'\]"),
    ],
    fetch_tcga: [({"name": "gbm"}, r"name must be one of \['brca', 'lgg', 'kipan'\], got 'gbm'")],
    fetch_nutrimouse: [({"target": "sex"}, r"target .* \['diet', 'genotype'\], got 'sex'")],
    fetch_voc07: [
        ({"descriptor": name}, "descriptor must be one of .*'DenseSift', 'HarrisSift'")
        for name in ("Gist", None, 1)
    ],
    fetch_reuters: [
        ({"subset": name}, "subset must be one of .*'1200', '600', 'full'.*, got")
        for name in (1200, "EN", None)
    ],
}


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [(function, *case) for function, cases in WRONG.items() for case in cases],
)
def test_wrong_arguments(folders, function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(**arguments)

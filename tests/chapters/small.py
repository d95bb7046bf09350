"""Small parameters of every chapter, with which `make small` runs it in seconds.

An empty entry runs the chapter as it stands.
"""

SMALL = {
    "book/api.ipynb": {"n_samples": 250, "n_landmarks": 20},
    "book/compare/missing_views.ipynb": {"n_train": 60, "n_test": 200, "n_draws": 1},
    "book/compare/side_by_side.ipynb": {"n_live": 1, "n_gaps": 30},
    "book/compare/speed.ipynb": {"n_live": 250, "n_stream": 4000},
    "book/data.ipynb": {"n_train": 200},
    "book/errata/index.ipynb": {"n_machine": 200, "n_updates": 3},
    "book/forensics.ipynb": {},
    "book/mvl_svm/derive.ipynb": {"n_samples": 80},
    "book/mvl_svm/run.ipynb": {"n_landmarks": 20, "n_draws": 2},
    "book/mvl_svm/validate.ipynb": {"n_replacements": 3},
    "book/mvm/derive.ipynb": {"n_samples": 150, "n_starts": 2, "most_views": 4},
    "book/mvm/run.ipynb": {
        "n_train": 150,
        "n_clicks": 500,
        "n_stream": 3000,
        "n_starts": 2,
        "n_draws": 1,
    },
    "book/mvm/validate.ipynb": {"n_seeds": 2, "n_test": 1000},
    "book/mvna_kmhks/derive.ipynb": {
        "n_draws": 2,
        "n_sweeps": 200,
        "n_signs": 100,
        "largest_n": 100,
    },
    "book/mvna_kmhks/run.ipynb": {
        "n_train": 100,
        "n_draws": 2,
        "n_numerals": 300,
        "n_largest": 800,
    },
    "book/mvna_kmhks/validate.ipynb": {"n_samples": 60, "n_repeats": 3, "n_draws": 400},
    "book/mvpo/derive.ipynb": {"n_samples": 50, "max_iter": 250},
    "book/mvpo/run.ipynb": {"C2": 10.0, "n_draws": 1},
    "book/mvpo/validate.ipynb": {"n_starts": 2, "n_random": 30},
    "book/mwmvc2/derive.ipynb": {"n_samples": 60},
    "book/mwmvc2/run.ipynb": {"n_rounds": 2},
    "book/mwmvc2/validate.ipynb": {"n_problems": 10},
    "book/own_data.ipynb": {"n_samples": 400, "n_landmarks": 20, "budget": 1},
    "book/reproduction.ipynb": {"tolerances": [2.0]},
    "book/rivals/boosting.ipynb": {"n_train": 100, "n_rounds": 12},
    "book/rivals/completion.ipynb": {"n_samples": 60, "n_draws": 1},
    "book/rivals/factorisation.ipynb": {"n_samples": 200, "n_starts": 4},
    "book/rivals/kernel_machines.ipynb": {"n_samples": 60},
    "book/rivals/metric_subspace.ipynb": {"n_samples": 50},
    "book/rivals/one_classifier_votes.ipynb": {"n_train": 100, "n_draws": 3},
    "book/rivals/performance_measures.ipynb": {"n_samples": 40},
}

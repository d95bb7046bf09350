"""Small parameters of every chapter, with which `make small` runs it in seconds.

An empty entry runs the chapter as it stands.
"""

SMALL = {
    "api": {},
    "data": {},
    "mvl_svm/derive": {"n_samples": 80},
    "mvl_svm/run": {"n_landmarks": 20, "n_draws": 2},
    "mvl_svm/validate": {"n_replacements": 3},
}

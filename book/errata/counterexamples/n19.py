"""Table 2 of MVNA-KMHKS: its digits are not those of ten folds, but of ten halves."""

import numpy as np

PRINTED = {  # number of patterns in the UCI repository, and the four accuracies
    "Shuttle-landing-control": (15, [71.43, 62.86, 70.00, 70.00]),
    "Lung-cancer": (32, [57.33, 46.67, 50.00, 52.67]),
    "Iris": (150, [97.33, 97.07, 97.07, 97.60]),
}


def possible(accuracies, whole):  # all are k / whole, for whole numbers k, to two digits
    k = np.round(np.array(accuracies) * whole / 100)
    return bool(np.all(np.abs(100 * k / whole - accuracies) < 0.0051))


found = []
for name, (n, accuracies) in PRINTED.items():
    small = n // 10  # ten folds have `small` or small + 1 patterns
    folds = possible(accuracies, 10 * small * (small + 1)) or possible(accuracies, n)
    half = {15: 7, 32: 15, 150: 75}[n]  # half of each class, rounded down
    found.append((folds, possible(accuracies, 10 * half)))
    words = {True: "can", False: "cannot"}
    print(f"{name}: ten folds {words[folds]} give the digits, ten halves {words[found[-1][1]]}")

assert found == [(False, True)] * 3

"""Section 5.3.2 of MVNA-KMHKS: Table 2 has a gain where the correlation is largest."""

import numpy as np

NAMES = ["Lung-cancer", "House-votes", "Shuttle", "Horse-colic", "Echocardiogram", "Iris"]
ALIGNMENT = np.array([0.5169, 0.3261, 0.2790, 0.4249, 0.0759, 0.9801])
MVNA = np.array([57.33, 93.98, 71.43, 63.46, 88.51, 97.33])
NA = np.array([46.67, 93.44, 62.86, 60.63, 87.31, 97.07])
KMHKS = np.array([50.00, 93.94, 70.00, 60.63, 87.61, 97.07])
gain = MVNA - np.maximum(NA, KMHKS)  # over the better of the two single-view machines
print(f"Iris: alignment {ALIGNMENT[5]:.2f}, gain {gain[5]:.2f} points")
order = np.argsort(ALIGNMENT[:5])
print("The others, by growing alignment:", ", ".join(NAMES[i] for i in order))
print("their gains over NA-KMHKS:", ", ".join(f"{(MVNA - NA)[i]:.1f}" for i in order))

assert gain[5] > 0 and ALIGNMENT[5] > 0.9  # an improvement without a low correlation
assert (MVNA - NA)[0] == (MVNA - NA).max() and ALIGNMENT[0] == ALIGNMENT[:5].max()

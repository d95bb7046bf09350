"""What all tests share: no windows, and the same random examples in every run."""

import matplotlib
from hypothesis import settings

# Not the variable MPLBACKEND: the kernels that run chapters would inherit it.
matplotlib.use("Agg")

settings.register_profile("mvref", derandomize=True, deadline=None)
settings.load_profile("mvref")

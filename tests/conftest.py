"""What all tests share: no windows, and the same random examples in every run."""

from contextlib import suppress

from hypothesis import settings

with suppress(ImportError):  # which only the tests of the book need
    import matplotlib

    # Not the variable MPLBACKEND: the kernels that run chapters would inherit it.
    matplotlib.use("Agg")

settings.register_profile("mvref", derandomize=True, deadline=None)
settings.load_profile("mvref")

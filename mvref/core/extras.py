"""Packages that mvref does not install because of their licences, imported where they are used."""


def import_cvxopt():
    """Return ``matrix`` and ``solvers`` of cvxopt, or raise an ImportError with instructions."""
    try:
        from cvxopt import matrix, solvers
    except ImportError as error:
        told = 'pip install "mvref[cvxopt]" (its licence is the GPL, version 3)'
        raise ImportError(f"This solver requires the package cvxopt: {told}.") from error
    return matrix, solvers

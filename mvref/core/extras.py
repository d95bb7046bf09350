"""What mvref does not bring, because its licence is another one: imported where it is used."""


def import_cvxopt():
    """Return ``matrix`` and ``solvers`` of cvxopt, or say in an ImportError how to get it."""
    try:
        from cvxopt import matrix, solvers
    except ImportError as error:
        told = 'pip install "mvref[cvxopt]"; its licence is the GPL, version 3'
        raise ImportError(f"this needs the package cvxopt: {told}.") from error
    return matrix, solvers

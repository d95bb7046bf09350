"""The door to the book's experiments: protocols, ledger, multiverse, verdicts.

They are ``book/experiments`` of the repository. Here they have their name, and nothing else.
"""

from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[2] / "book" / "experiments"
if not _FOLDER.is_dir():
    raise ModuleNotFoundError(
        "mvref.experiments is part of the repository of mvref, not of the installed package: "
        "clone https://github.com/mvref/mvref and install it with pip install -e ."
    )
__path__ = [str(_FOLDER)]

from .public import *  # noqa: E402, F403
from .public import __all__ as __all__  # noqa: E402

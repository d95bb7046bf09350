"""The door to the book's experiments: protocols, ledger, multiverse, verdicts.

They are ``book/experiments`` of the repository, or the folder ``mvref_book`` beside a notebook of
the book that was downloaded. Here they have their name, and nothing else.
"""

from pathlib import Path

_FOLDERS = (
    Path(__file__).resolve().parents[2] / "book" / "experiments",
    Path("mvref_book", "experiments").resolve(),
)
__path__ = [str(folder) for folder in _FOLDERS if folder.is_dir()][:1]
if not __path__:
    raise ModuleNotFoundError(
        "mvref.experiments is part of the repository of mvref, not of the installed package: "
        "clone https://github.com/mvref/mvref and install it with pip install -e ."
    )

from .public import *  # noqa: E402, F403
from .public import __all__ as __all__  # noqa: E402

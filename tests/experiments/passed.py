"""Have the tests of the experiments passed with just these files? (`make experiments`)

python tests/experiments/passed.py          the exit status says so
python tests/experiments/passed.py --note   they have: note it in passed.txt, which is committed
"""

import hashlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTE = Path(__file__).with_suffix(".txt")
# The package with its ledger, the tests, and what all tests stand on.
FILES = ("mvref/**/*.py", "mvref/**/*.csv", "mvref/**/*.toml", "mvref/**/*.npz")
FILES += ("tests/experiments/*.py", "book/errata/*.toml", "conftest.py", "requirements.txt")


def fingerprint():
    """A digest of the names and the contents of all these files."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in FILES for path in ROOT.glob(pattern)):
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return f"{digest.hexdigest()}\n"


if __name__ == "__main__":
    if "--note" in sys.argv:
        NOTE.write_text(fingerprint(), newline="\n")
    elif not NOTE.exists() or NOTE.read_text() != fingerprint():
        sys.exit(1)

"""Has a stage of `make test` passed with just these files?

python tests/passed.py small          the exit status says so
python tests/passed.py small --note   it has: note it in passed.txt, which is committed
"""

import hashlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTE = Path(__file__).with_suffix(".txt")
# What a stage stands on, beside package, experiments, ledger and what all tests stand on.
ENDS = (".py", ".csv", ".toml", ".npz")
FILES = [f"{folder}/**/*{end}" for folder in ("mvref", "book/experiments") for end in ENDS]
FILES += ["conftest.py", "requirements.txt", "book/errata/*.toml"]
STAGES = {
    "experiments": ["tests/experiments/*.py"],
    "small": ["tests/chapters/*.py", "book/*.py", "book/**/*.ipynb"],
}


def fingerprint(stage):
    """A digest of the names and the contents of all files of a stage."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in FILES + STAGES[stage] for path in ROOT.glob(pattern)}):
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


if __name__ == "__main__":
    stage = sys.argv[1]
    noted = dict(line.split() for line in NOTE.read_text().splitlines())
    if "--note" in sys.argv:
        noted[stage] = fingerprint(stage)
        NOTE.write_text("".join(f"{name} {noted[name]}\n" for name in sorted(noted)), newline="\n")
    elif noted.get(stage) != fingerprint(stage):
        sys.exit(1)

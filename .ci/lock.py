"""Pin the requirements of pyproject.toml and their hashes, for every platform: `make lock`.

Pins that still fit are kept: a change of one package must not move the numbers of the book through
another. Delete a pin, or the file, to get newer versions.
"""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
# One version of a package for all Pythons ("fewest"): the same numbers on each of them.
COMMAND = (
    "uv pip compile --quiet --generate-hashes --universal --python-version 3.11 "
    "--fork-strategy fewest --no-emit-index-url --no-emit-find-links --custom-compile-command"
).split() + ["make lock"]


def pin(output, *arguments, stdin=None):
    subprocess.run(
        [*COMMAND, "--output-file", output, *arguments],
        cwd=ROOT,
        check=True,
        input=stdin,
        text=True,
        stdout=subprocess.DEVNULL,
    )


def main():
    if shutil.which("uv") is None:
        sys.exit("make lock needs uv: https://docs.astral.sh/uv")
    extras = [f"--extra={name}" for name in EXTRAS if name != "liblinear"]
    pin("requirements.txt", "pyproject.toml", *extras, "--group=dev")
    # In a file of its own, because it has to be compiled and may fail to.
    pin("requirements-liblinear.txt", "--no-deps", "-", stdin="\n".join(EXTRAS["liblinear"]))


if __name__ == "__main__":
    main()

"""An environment as a stranger's: the wheel, and what the first cell of a copy asks for.

python tests/chapters/outside.py    makes it in _build/outside, with the pinned versions

With OUTSIDE=browser it is made in _build/browser, by the interpreter PYTHON, with the versions that
Pyodide has and without what Pyodide lacks.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from book.plain import NEEDS

ROOT = Path(__file__).resolve().parents[2]
KERNEL = os.environ.get("OUTSIDE", "outside")
FOLDER = ROOT / "_build" / KERNEL
PYTHON = FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
PYODIDE = ROOT / "tests" / "project" / "web" / "node_modules" / "pyodide"
KERNEL_JS = (ROOT / "book" / "_static" / "kernel.js").read_text(encoding="utf-8")
PACKAGES = json.loads(re.search(r"PACKAGES = (\[.*?),?\n\]", KERNEL_JS, re.DOTALL)[1] + "]")


def index():
    """Pyodide's packages: name -> what its lock file says."""
    return json.loads((PYODIDE / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]


def lacks():
    """What copies need and the environment must not have."""
    return NEEDS.keys() - index().keys() if KERNEL == "browser" else set()


def main():
    if KERNEL == "browser":
        interpreter, options = os.environ["PYTHON"], ["--no-deps"]
        packages = [*PACKAGES, "pytest", "hypothesis"]
        pinned = [(f"{name}=={about['version']}",) for name, about in index().items()]
    else:
        interpreter, packages, options = sys.executable, [], []
        pinned = re.findall(
            r"^([\w.\[\]-]+==\S+)( ;[^\\\n]*)?", (ROOT / "requirements.txt").read_text(), re.M
        )
    subprocess.run([interpreter, "-m", "venv", "--clear", FOLDER], check=True)
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder, "pins.txt")
        pins.write_text("\n".join(map("".join, pinned)))
        build = ["wheel", "--no-deps", "--no-build-isolation", "-w", folder, ROOT]
        subprocess.run([sys.executable, "-m", "pip", "--quiet", *build], check=True)
        install = [PYTHON, "-m", "pip", "--quiet", "install", "-c", pins]
        needs = [*packages, "matplotlib", *(NEEDS.keys() - lacks()), "ipykernel"]
        subprocess.run([*install, *needs], check=True)
        subprocess.run([*install, *options, *Path(folder).glob("*.whl")], check=True)
    spec = FOLDER / "share" / "jupyter" / "kernels" / KERNEL / "kernel.json"
    spec.parent.mkdir(parents=True, exist_ok=True)
    command = [str(PYTHON), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": command, "display_name": KERNEL, "language": "python"}))
    (FOLDER / "installed").touch()


if __name__ == "__main__":
    main()

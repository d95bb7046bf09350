"""An environment as a stranger's: the wheel, and what the first cell of a copy asks for.

python tests/chapters/outside.py    makes it in _build/outside, with the pinned versions
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from book.plain import NEEDS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "_build" / "outside"
PYTHON = FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
KERNEL = "outside"


def main():
    venv.create(FOLDER, clear=True, with_pip=True)
    pinned = re.findall(
        r"^([\w.\[\]-]+==\S+)( ;[^\\\n]*)?", (ROOT / "requirements.txt").read_text(), re.M
    )
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder, "pins.txt")
        pins.write_text("\n".join(map("".join, pinned)))
        build = ["wheel", "--no-deps", "--no-build-isolation", "-w", folder, ROOT]
        subprocess.run([sys.executable, "-m", "pip", "--quiet", *build], check=True)
        [wheel] = Path(folder).glob("*.whl")
        given = ["install", "-c", pins, wheel, "matplotlib", *NEEDS, "ipykernel"]
        subprocess.run([PYTHON, "-m", "pip", "--quiet", *given], check=True)
    spec = FOLDER / "share" / "jupyter" / "kernels" / KERNEL / "kernel.json"
    spec.parent.mkdir(parents=True, exist_ok=True)
    command = [str(PYTHON), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": command, "display_name": KERNEL, "language": "python"}))
    (FOLDER / "installed").touch()


if __name__ == "__main__":
    main()

"""Serve the built book with a kernel behind its pages (this is `make live`).

python book/live.py                                 prints the address of the welcome page
python book/live.py --ServerApp.open_browser=True   opens it, too; Jupyter's other options do

A Jupyter server for this machine alone, with a new random token at each start. A page that was
reached from that address runs its code there, once the reader asks for it.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HTML = ROOT / "_build" / "html"


def main(options):
    if not (HTML / "index.html").exists():
        sys.exit("The book is not built: run make book first")
    try:
        from jupyter_server.serverapp import ServerApp
    except ImportError:
        sys.exit("make live needs a Jupyter server: python -m pip install jupyter-server")
    os.environ.pop("JUPYTER_TOKEN", None)  # Jupyter draws a new one
    ServerApp.launch_instance(
        [
            f"--ServerApp.root_dir={ROOT}",  # so that a kernel starts in the folder of its chapter
            f"--ServerApp.extra_static_paths={HTML}",
            "--ServerApp.default_url=/static/book/intro.html",
            "--ServerApp.ip=127.0.0.1",
            *options,
        ]
    )


if __name__ == "__main__":
    main(sys.argv[1:])

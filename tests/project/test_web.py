"""The built book in a browser: axe-core in light and dark, Lighthouse, and the way by keyboard.

Takes minutes, so it is no stage of `make test` but `make web`, which serves _build/html with
compression, as a host does. Lighthouse runs three times for each page and device (WEB_RUNS), and
the median performance counts: other work on the machine makes single runs slower.
"""

import gzip
import json
import os
import shutil
import subprocess
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread

import pytest

from book.pdf import BROWSERS

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "_build" / "html"
WEB = Path(__file__).parent / "web"
CHROME = os.environ.get("CHROME") or next(filter(None, map(shutil.which, BROWSERS)), None)
MOST_READ = (
    "book/intro.html",
    "book/setup.html",
    "book/mvl_svm/one_page.html",
    "book/mvm/derive.html",
    "book/compare/which.html",
    "book/reference/methods.html",
)
LEAST = {"accessibility": 95, "best-practices": 95, "seo": 95}
LEAST_PERFORMANCE = {"desktop": 90, "phone": 70}
PACKED = (".png", ".woff2", ".pdf")  # compressed by their formats

pytestmark = [
    pytest.mark.skipif(not (BUILT / "index.html").exists(), reason="no book: run make book"),
    pytest.mark.skipif(not CHROME, reason="no browser: install Chromium, Chrome or Edge"),
    pytest.mark.skipif(not shutil.which("node"), reason="no node: install Node.js 20 or newer"),
    pytest.mark.skipif(
        not (WEB / "node_modules").exists(),
        reason="no axe-core and Lighthouse: run npm ci --ignore-scripts in tests/project/web",
    ),
]


@cache
def compressed(path):
    return gzip.compress(path.read_bytes())


class Host(SimpleHTTPRequestHandler):
    """A server of files that compresses them."""

    protocol_version = "HTTP/1.1"

    def send_head(self):
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            return self.send_error(404)
        content = path.read_bytes() if path.suffix in PACKED else compressed(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Length", str(len(content)))
        if path.suffix not in PACKED:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        return BytesIO(content)

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=BUILT))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def node(script, *arguments):
    """What a script of the folder web prints."""
    done = subprocess.run(
        ["node", WEB / script, *map(str, arguments)],
        env=os.environ | {"CHROME": CHROME},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_axe_calls_nothing_serious_or_critical(address):
    static = BUILT / "_static"
    pages = sorted(path for path in BUILT.rglob("*.html") if static not in path.parents)
    pages.remove(BUILT / "index.html")  # which only leads to the welcome page
    assert len(pages) > 100
    names = [path.relative_to(BUILT).as_posix() for path in pages]
    found = node("axe.mjs", *(f"{address}/{name}" for name in names))
    print(f"\naxe-core: {len(names)} pages, light and dark")
    for rule in sorted({(row["impact"], row["id"]) for row in found}):
        print(*rule, sum((row["impact"], row["id"]) == rule for row in found))
    grave = [row for row in found if row["impact"] in ("serious", "critical")]
    for place in sorted({(row["address"], row.get("mode", ""), row["id"]) for row in grave}):
        print(*place)  # at once: Lighthouse takes minutes more
    assert grave == []


def test_lighthouse(address):
    pages = (f"{address}/{name}" for name in MOST_READ)
    rows = node("lighthouse.mjs", os.environ.get("WEB_RUNS", 3), *pages)
    assert len(rows) == 2 * len(MOST_READ)
    for row in rows:
        print("\n", row)
    assert [
        row
        for row in rows
        if row["performance"] < LEAST_PERFORMANCE[row["form"]]
        or any(row[name] < least for name, least in LEAST.items())
    ] == []


def test_a_keyboard_leads_from_the_search_to_a_cell(address):
    steps = node("keyboard.mjs", address)
    assert [step["name"] for step in steps if not step["ring"]] == []
    assert [step["stop"] for step in steps if step.get("stop")] == [
        "skip link",
        "search",
        "field",
        "result",
        "skip link",
        "cell",
    ]
    assert all(step["after"] for step in steps)  # in the order of the page

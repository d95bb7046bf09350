"""Run it here: in a browser, a cell of the built book is changed and run.

In the browser itself runs Pyodide, from its npm package. The packages of its index are far away:
stubs have their place, which say so when they are imported, and IPython is the one installed here.
"""

import asyncio
import base64
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from PIL import Image
from PIL.ImageColor import getrgb

pytest.importorskip("jupyter_server", reason="needs a Jupyter server: pip install jupyter-server")
from tornado.websocket import websocket_connect

from book import pdf, plain
from mvref.experiments.verdict_text import LOOKS
from tests.chapters.outside import KERNEL_JS, PACKAGES, PYODIDE, index

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
if not (HTML / "index.html").exists():
    pytest.skip("the book is not built: run make book", allow_module_level=True)

RUNTIME = re.search('RUNTIME = "(.*)"', KERNEL_JS)[1]
CHAPTER = "mvl_svm/one_page.html"
LOADED = "document.readyState + location.pathname + location.search"
FOLLOW = f"document.querySelector('a[href$=\"{CHAPTER}\"]').click()"
STATUS = "document.querySelector('.live-bar [role=status]')?.textContent"
CODE = """
import os, pandas, matplotlib.pyplot as plt
plt.subplots(figsize=(1, 1))
plt.show()
display(pandas.DataFrame([[1]]))
print(n_landmarks + 22, os.getcwd())"""
IN_BROWSER = """
import os, sys
from IPython.display import HTML
display(HTML("<b>42</b>"))
print(sys.platform, "mvref_book" in os.listdir())
import mvref"""
CHANGE = """
  editor = document.querySelector(".CodeMirror").CodeMirror
  editor.setValue(editor.getValue() + %s)
  document.querySelector(".thebe-controls button").click()"""
LINKS = "[...document.querySelectorAll('.live-bar a')].map((link) => link.href).join()"
DARK = "for (const name of ['mode', 'theme']) document.documentElement.dataset[name] = 'dark'"
# What tables and pictures of cells look like, each kind once.
LOOK = """[...new Set([...document.querySelectorAll(".cell :is(td, th, img)")].map((one) => {
  const look = getComputedStyle(one), { color, fontSize, lineHeight, padding, filter } = look
  const kind = one.localName + Boolean(one.closest(".dataframe"))
  return [kind, color, look.backgroundColor, fontSize, lineHeight, padding, filter].join()
}))].sort().join("\\n")"""
# Where the last picture of a page is, once it is there; and the marks of the verdicts.
PLACE = """picture = [...document.querySelectorAll("article img")].pop()
  picture.scrollIntoView({ behavior: "instant" });
  ({ x, y, width, height } = picture.getBoundingClientRect());
  picture.complete && JSON.stringify({ x: x + scrollX, y: y + scrollY, width, height, scale: 2 })"""
MARKS = """[...new Set([...document.querySelectorAll("article .verdict")].map((one) =>
  one.classList[1] + " " + getComputedStyle(one, "::before").color))].sort().join("\\n")"""
OUTPUT = "document.querySelector('.thebe-output').innerText"


@contextmanager
def started(command, pattern):
    """What a program says that fits the pattern, while it runs."""
    program = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        yield next(found for line in program.stderr if (found := re.search(pattern, line)))[1]
    finally:
        program.terminate()
        program.communicate()


def jupyter(*options):
    """The address of the welcome page, with its token, as `make live` prints it."""
    command = [sys.executable, "-m", "jupyter_server", "--config=book/live.json", "--no-browser"]
    return started([*command, "--allow-root", *options], r"(http\S+token=\w+)")


@pytest.fixture
def browser(tmp_path):
    """The port of a browser for which nothing exists but this machine."""
    found = [path for name in pdf.BROWSERS if (path := shutil.which(name))]
    if not found:
        pytest.skip("needs Chromium, Chrome or Edge on the PATH")
    rules = "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    options = ["--headless=new", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0"]
    options += [f"--user-data-dir={tmp_path}", f"--host-resolver-rules={rules}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--no-sandbox")  # Chromium refuses to run as root otherwise
    with started([found[0], *options, "about:blank"], r"DevTools .*ws://[\d.]+:(\d+)/") as port:
        yield port


class Tab:
    """A page of a browser, spoken to through its developer tools."""

    async def open(self, port, address):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as found:
            [page] = [tab for tab in json.load(found) if tab["type"] == "page"]
        self.line = await websocket_connect(page["webSocketDebuggerUrl"])
        self.asked, self.replies = [], []
        self.listening = asyncio.create_task(self.listen())
        await self.send("Network.enable")
        await self.send("Page.navigate", url=address)

    async def listen(self):
        """Keep what the page asks for, and hand out the replies."""
        while text := await self.line.read_message():
            event = json.loads(text)
            told = event.get("params", {})
            if "id" in event:
                self.replies[event["id"]].set_result(event.get("result", {}))
            elif event["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                self.asked.append(urlsplit(told.get("request", told)["url"]))

    def send(self, method, **parameters):
        message = {"id": len(self.replies), "method": method, "params": parameters}
        self.replies.append(asyncio.Future())
        self.line.write_message(json.dumps(message))
        return self.replies[-1]

    async def see(self, expression, pattern=""):
        """Wait until an expression of the page has a value that fits."""
        for _ in range(600):
            reply = await self.send("Runtime.evaluate", expression=expression)
            if re.search(pattern, value := str(reply.get("result", {}).get("value"))):
                return value
            await asyncio.sleep(0.1)
        pytest.fail(f"{expression} stays {value}, which does not fit {pattern}")


async def press(port, address, step="1"):
    """Open a chapter and press the button; the page, the status, and what was asked for before."""
    tab = Tab()
    await tab.open(port, address)
    await tab.see(LOADED, "^complete.*html$")  # the token has left the address
    await tab.see(step)
    await tab.see(LOADED, f"^complete.*{CHAPTER}$")
    await tab.see(DARK)
    stored, before = await tab.see(LOOK), list(tab.asked)
    await tab.see("document.querySelector('.btn-live').click()")
    return tab, await tab.see(STATUS, "^Ready|not start|^Not connected"), before, stored


async def change_a_cell(port, address):
    """What the page asked for before the button was pressed, and in all."""
    tab, status, before, stored = await press(port, address, FOLLOW)
    assert status.startswith("Ready")
    await tab.see(CHANGE % json.dumps(CODE))
    await tab.see(STATUS, r"Cell 1 of \d+ has run")
    await tab.see(OUTPUT, f"(?m)^42 {re.escape(str(ROOT / 'book' / 'mvl_svm'))}")
    assert await tab.see(LOOK) == stored
    return before, tab.asked


def test_cell_runs_on_the_server_of_make_live(browser):
    with jupyter() as address:
        before, asked = asyncio.run(change_a_cell(browser, address))
    assert not any("thebe" in url.path for url in before)
    assert {url.hostname for url in asked} - {None} == {"127.0.0.1"}


class Site(SimpleHTTPRequestHandler):
    """The built book as a host serves it, with other files in some places."""

    files = {}

    def do_GET(self):
        content = self.files.get(self.path)
        if content is None:
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(self.path))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def site():
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Site, directory=HTML))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/book/{CHAPTER}"
    server.shutdown()


async def see_links(port, address):
    tab, status, before, _ = await press(port, address)
    return status, before, await tab.see(LINKS)


@pytest.mark.parametrize("kind", ["site", "file"])
def test_where_python_does_not_start_a_sentence_leads_on(browser, site, kind):
    address = site if kind == "site" else (HTML / "book" / CHAPTER).as_uri()
    status, before, links = asyncio.run(see_links(browser, address))
    reason = "Failed to fetch" if kind == "site" else "this page is a file"
    assert status.startswith(f"Python does not start in this browser: {reason}")
    assert re.search(r"setup\.html#run-it-in-the-page,https://mybinder\.org/v2/gh/\S*ipynb$", links)
    assert not any("thebe" in url.path or "kernel" in url.path for url in before)
    assert {url.hostname for url in before} <= {"127.0.0.1", None}


def needed(lock, name):
    """A package of the runtime's index and all that it stands on."""
    name = canonicalize_name(name)
    return {name}.union(*(needed(lock, other) for other in lock[name]["depends"]))


INSTALLED = {canonicalize_name(found.name): found for found in importlib.metadata.distributions()}


def wheel_of(name, lock):
    """What is installed here if IPython stands on it, otherwise a stub that says so."""
    file, about = BytesIO(), lock[name]
    with zipfile.ZipFile(file, "w") as packed:
        if name in needed(lock, "ipython") & INSTALLED.keys():
            for path in INSTALLED[name].files:
                if path.suffix not in (".pyc", ".so", ".pyd") and ".." not in path.parts:
                    packed.write(path.locate(), path)
        else:
            told = f"{name}-{about['version']}.dist-info"
            packed.writestr(f"{told}/METADATA", f"Name: {name}\nVersion: {about['version']}\n")
            for module in about["imports"]:
                packed.writestr(f"{module}.py", f"raise ModuleNotFoundError('a stub of {name}')")
    return file.getvalue()


@pytest.fixture
def runtime(monkeypatch):
    """The npm package in the place of RUNTIME, and wheels in the place of its index."""
    if not PYODIDE.exists():
        pytest.skip("no Pyodide: run npm ci --ignore-scripts in tests/project/web")
    files = {f"/runtime/{path.name}": path.read_bytes() for path in PYODIDE.glob("p*")}
    index = json.loads(files["/runtime/pyodide-lock.json"])
    lock = index["packages"]
    for name in set().union(*(needed(lock, name) for name in [*PACKAGES, "matplotlib"])):
        content = wheel_of(name, lock)
        lock[name]["sha256"] = hashlib.sha256(content).hexdigest()
        files[f"/runtime/{lock[name]['file_name']}"] = content
    files["/runtime/pyodide-lock.json"] = json.dumps(index).encode()
    files["/_static/kernel.js"] = KERNEL_JS.replace(RUNTIME, "/runtime/").encode()
    monkeypatch.setattr(Site, "files", files)
    return lock


async def run_in_browser(port, address):
    tab, status, _, _ = await press(port, address)
    assert status == "Ready: change a cell and run it."
    await tab.see(CHANGE % json.dumps(IN_BROWSER))
    await tab.see(STATUS, r"Cell 1 of \d+ ended in ModuleNotFoundError")
    await tab.see(OUTPUT, "(?s)^42\nemscripten True\n.*a stub of numpy")
    await tab.see("[...document.querySelectorAll('.live-bar button')].pop().click()")
    await tab.see(STATUS, "^Restarted")
    assert {url.hostname for url in tab.asked} - {None} == {"127.0.0.1"}


def test_cell_runs_in_the_browser_up_to_the_first_import_of_numpy(browser, site, runtime):
    asyncio.run(run_in_browser(browser, site))


def test_runtime_has_what_mvref_requires():
    wanted = {Requirement(text).name: Requirement(text) for text in plain.PROJECT["dependencies"]}
    assert set(PACKAGES) == {*wanted, "ipython"} - {"pooch"}
    web = json.loads((PYODIDE.parents[1] / "package.json").read_text(encoding="utf-8"))
    assert f"/v{web['dependencies']['pyodide']}/" in RUNTIME
    for name in wanted.keys() - {"pooch"} if PYODIDE.exists() else ():
        assert index()[name]["version"] in wanted[name].specifier


SHOWN = """
import json, runpy, sys
messages, out = [], sys.stdout
start = runpy.run_path("book/_static/kernel.py")["start"]
execute = start(lambda text: messages.append(json.loads(text)))
for code in sys.argv[1:]:
    execute(code)
out.write(json.dumps([[m["header"]["msg_type"], m["content"]] for m in messages]))
"""


def test_kernel_of_the_browser_sends_what_cells_show():
    cells = (
        "print(1)",
        "import pandas; pandas.DataFrame([[2]])",
        "1 / 0",
        "from pylab import *\nplot([3])\nshow()",
    )
    done = subprocess.run(
        [sys.executable, "-c", SHOWN, *cells],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    shown = [
        (kind, content) for kind, content in json.loads(done.stdout) if kind != "execute_reply"
    ]
    kinds = [kind for kind, _ in shown]
    assert kinds == ["stream", "stream", "execute_result", "error", "display_data"]
    assert "".join(content["text"] for _, content in shown[:2]) == "1\n"
    assert "<td>2</td>" in shown[2][1]["data"]["text/html"]
    assert shown[3][1]["ename"] == "ZeroDivisionError"
    assert shown[4][1]["data"]["image/png"].startswith("iVBOR")


async def colors_of(port, page, mode):
    """The marks of the verdicts on a page, and the colours of its last picture on the screen."""
    tab = Tab()
    await tab.open(port, (HTML / "book" / page).as_uri())
    await tab.see(LOADED, "^complete.*html$")
    await tab.see(DARK.replace("dark", mode))
    clip = json.loads(await tab.see(PLACE, '"height":[1-9]'))
    shot = await tab.send("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
    picture = Image.open(BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    shown = {color for n, color in picture.getcolors(picture.width * picture.height) if n > 99}
    return (await tab.see(MARKS)).splitlines(), shown


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("page", ["intro.html", "reproduction.html"])
def test_a_verdict_has_one_colour(browser, page, mode):
    looks = {verdict.replace(" ", "-"): getrgb(color) for verdict, (color, _) in LOOKS.items()}
    marks, shown = asyncio.run(colors_of(browser, page, mode))
    assert set(looks.values()) <= shown
    assert marks == [f"{name} rgb{looks[name]}" for name in sorted(looks) if page[0] == "r"]


def test_what_copies_need_lies_on_the_site():
    assert (HTML / "_static" / plain.ROWS).exists() and (HTML / "_static" / plain.WHEEL).exists()


def test_cells_of_a_page_are_those_of_its_notebook():
    """What the page offers is the copy that runs anywhere; live.js pairs it with the page."""
    for path in plain.chapters():
        name = path.relative_to(ROOT)
        html = (HTML / name).with_suffix(".html").read_text(encoding="utf-8")
        code = [cell for cell in plain.cells_of(path) if cell["cell_type"] == "code"]
        copy = json.loads((HTML / "_sources" / name).read_text(encoding="utf-8"))
        assert copy == plain.copy_of(path, plain.read(path))
        assert len(re.findall('<div class="cell[ "]', html)) == len(code)

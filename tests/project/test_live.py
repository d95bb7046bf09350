"""Run it here: in a browser, a cell of the built book is changed and run.

Binder is far away. Its one answer, the address of a server, is given here in its place.
"""

import asyncio
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from PIL import Image
from PIL.ImageColor import getrgb

pytest.importorskip("jupyter_server", reason="needs a Jupyter server: pip install jupyter-server")
from tornado.websocket import websocket_connect

from book import pdf, plain
from mvref.experiments.verdict_text import LOOKS

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
if not (HTML / "index.html").exists():
    pytest.skip("the book is not built: run make book", allow_module_level=True)

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
CHANGE = f"""
  editor = document.querySelector(".CodeMirror").CodeMirror
  editor.setValue(editor.getValue() + {json.dumps(CODE)})
  document.querySelector(".thebe-controls button").click()"""
BINDER = """EventSource = class { close() {} constructor(url) {
  const answer = {phase: "%s", message: url, url: "%s", token: "%s"}
  setTimeout(() => this.onmessage({data: JSON.stringify(answer)})) } }, 1"""
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
    """The port of a browser for which nothing exists but this machine, also called book.test."""
    found = [path for name in pdf.BROWSERS if (path := shutil.which(name))]
    if not found:
        pytest.skip("needs Chromium, Chrome or Edge on the PATH")
    rules = "MAP book.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
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


async def change_a_cell(port, address, step):
    """Open a chapter, click, change a cell; the status, what was asked for before and in all."""
    tab = Tab()
    await tab.open(port, address)
    await tab.see(LOADED, "^complete.*html$")  # the token has left the address
    await tab.see(step)
    await tab.see(LOADED, f"^complete.*{CHAPTER}$")
    await tab.see(DARK)
    stored = await tab.see(LOOK)
    before = list(tab.asked)
    await tab.see("document.querySelector('.btn-live').click()")
    status = await tab.see(STATUS, "^Ready|^Not connected")
    if status.startswith("Ready"):
        await tab.see(CHANGE)
        await tab.see(STATUS, r"Cell 1 of \d+ has run")
        await tab.see(OUTPUT, f"(?m)^42 {re.escape(str(ROOT / 'book' / 'mvl_svm'))}")
        assert await tab.see(LOOK) == stored
    return status, before, tab.asked


def test_cell_runs_on_the_server_of_make_live(browser):
    with jupyter() as address:
        status, before, asked = asyncio.run(change_a_cell(browser, address, FOLLOW))
    assert status.startswith("Ready")
    assert not any("thebe" in url.path for url in before)
    assert {url.hostname for url in asked} - {None} == {"127.0.0.1"}


@pytest.mark.parametrize("phase", ["ready", "failed"])
def test_published_page_takes_the_server_that_binder_gives(browser, phase):
    options = "--ServerApp.allow_origin=*", "--ServerApp.allow_remote_access=True"
    with jupyter(*options) as address:
        home, token = address.split("static/book/intro.html?token=")
        page = f"{home}static/book/{CHAPTER}".replace("127.0.0.1", "book.test")
        step = BINDER % (phase, home, token)
        status, _, asked = asyncio.run(change_a_cell(browser, page, step))
    build = "https://mybinder.org/build/gh/mvref/mvref/main"
    assert status.startswith("Ready" if phase == "ready" else f"Not connected: {build}. ")
    assert {url.hostname for url in asked} - {None} <= {"127.0.0.1", "book.test"}


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

"""Fixtures for the data sets: private folders, a local web server, data that may be absent."""

import gzip
import hashlib
import threading
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mvref.datasets._sources import FILES, FOLDERS
from tests.datasets.loaders import EMBEDDED, FETCHED
from tests.datasets.small import SMALL, Small


@pytest.fixture(params=[*EMBEDDED, *(name for name in FETCHED if name != "reuters_full")])
def load(request):
    """The loader of each data set."""
    return (EMBEDDED | FETCHED)[request.param]


@lru_cache(maxsize=1)
def load_once(name):
    return (EMBEDDED | FETCHED)[name]()


@pytest.fixture
def real():
    """Return a function that gives a data set, not loaded twice in a row."""
    return load_once


def fixture_of(name):
    """A fixture that gives one data set."""
    return pytest.fixture(lambda: load_once(name), name=name)


citeseer, flower17, mfeat, mnist, optdigits, reuters1200, reuters600, uwave, webkb = map(
    fixture_of,
    "citeseer flower17 mfeat mnist optdigits reuters1200 reuters600 uwave webkb".split(),
)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Point MVREF_DATA and the cache to empty folders, hide packages; return both folders."""
    data, cache = tmp_path / "data", tmp_path / "cache"
    monkeypatch.setenv("MVREF_DATA", str(data))
    monkeypatch.setenv("MVREF_CACHE", str(cache))
    monkeypatch.setattr("mvref.datasets._lookup.PACKAGES", {})
    monkeypatch.setenv("NO_PROXY", "*")
    return data, cache


@pytest.fixture
def put():
    """Return a function that writes a file, or its ``.gz``, and the folders above it."""

    def write(path, content):
        if path.suffix == ".gz" and not content.startswith(b"\x1f\x8b"):
            content = gzip.compress(content)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def small(folders, put, register, monkeypatch):
    """Return a function that writes a small data set, which its loader then expects: its folder."""

    def write(name, suffix="", **changes):
        dataset = name.removesuffix("_original")
        folder = folders[0] / FOLDERS[dataset]
        some = SMALL.get(name, Small({}, [], []))
        for place, value in some.constants.items():
            monkeypatch.setattr(f"mvref.datasets.{place}", value)
        files = some.files | changes
        for file, content in files.items():
            put(folder / f"{file}{suffix}", content)
        for file in FILES[dataset]:
            register(dataset, file, files.get(file, b""), None)
        return folder

    return write


class Handler(BaseHTTPRequestHandler):
    """Serves ``server.pages``: path -> (status, content, content length to announce)."""

    def do_GET(self):
        self.server.asked.append(self.path)
        status, content, length = self.server.pages.get(self.path, (404, b"", 0))
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        """Keep the test output clean."""


@pytest.fixture
def web():
    """A web server on this machine; ``web.offer`` puts a page on it, ``web.asked`` lists visits."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.pages, server.asked = {}, []
    server.root = f"http://127.0.0.1:{server.server_address[1]}"

    def offer(path, content, status=200, length=None):
        server.pages[path] = (status, content, len(content) if length is None else length)
        return server.root + path

    server.offer = offer
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def register(monkeypatch):
    """Return a function that registers other content, or another address, for a known file."""

    def change(dataset, file, content, url):
        sha256 = hashlib.sha256(content).hexdigest()
        monkeypatch.setitem(FILES[dataset], file, (sha256, url))

    return change

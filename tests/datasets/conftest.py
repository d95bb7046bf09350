"""Fixtures for the data sets: private folders, a local web server, data that may be absent."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from mvref.datasets import available
from mvref.datasets._sources import BY_HAND, FILES, FOLDERS


@pytest.fixture
def need():
    """Skip a test unless a data set is on this machine."""

    def skip_unless(name):
        if name not in available():
            name = name.removesuffix("_original")
            pytest.skip(
                f"data set {name} is not on this machine. {BY_HAND[name]} into the folder "
                f"{FOLDERS.get(name, name)} of the folder that the variable MVREF_DATA names"
            )

    return skip_unless


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Point MVREF_DATA and the cache to empty folders; return both."""
    data, cache = tmp_path / "data", tmp_path / "cache"
    monkeypatch.setenv("MVREF_DATA", str(data))
    monkeypatch.setenv("MVREF_CACHE", str(cache))
    monkeypatch.setenv("NO_PROXY", "*")
    return data, cache


@pytest.fixture
def put():
    """Return a function that writes a file and the folders above it."""

    def write(path, content):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

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

"""Order of look-up, checks of files, downloads, and the sentences that a user reads."""

import gzip
import hashlib
import logging
import os
import re
import sys
import tempfile
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pooch
import pytest

from mvref.datasets import DatasetCorrupted, DatasetUnavailable, available
from mvref.datasets import _lookup as lookup
from mvref.datasets._sources import BY_HAND, FILES, FOLDERS, SOURCES
from mvref.datasets._uci import TABLES
from tests.costs import peak_bytes

GOOD = b"1 2 3\n"
FILE = "mfeat-mor"
NOWHERE = "http://127.0.0.1:9/mfeat-mor"  # the discard port: nobody listens


def files_below(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def offered(register, web):
    """The file is on the web server, which is returned."""
    register("mfeat", FILE, GOOD, web.offer("/mor", GOOD))
    return web


def test_mvref_data_comes_before_the_cache_and_both_before_the_web(folders, put, offered):
    for folder in reversed(folders):
        path = put(folder / "mfeat" / FILE, GOOD)
        assert lookup.fetch("mfeat", FILE) == path
    assert offered.asked == []


def test_no_variable_means_the_operating_systems_cache(monkeypatch):
    monkeypatch.delenv("MVREF_DATA", raising=False)
    monkeypatch.delenv("MVREF_CACHE", raising=False)
    assert lookup.data_folders("uwave") == [pooch.os_cache("mvref") / "uwave"]
    monkeypatch.setenv("MVREF_DATA", "")
    assert len(lookup.data_folders("uwave")) == 1


def test_gzip_is_checked_by_its_content(folders, put, register):
    register("mfeat", FILE, GOOD, None)
    for level in (1, 9):  # different bytes, same content
        path = put(folders[0] / "mfeat" / f"{FILE}.gz", gzip.compress(GOOD, level))
        assert lookup.fetch("mfeat", FILE) == path


def test_truncated_gzip_is_a_sentence(folders, put):
    path = put(folders[0] / "mfeat" / f"{FILE}.gz", gzip.compress(GOOD * 1000)[:-9])
    with pytest.raises(DatasetCorrupted, match=f"{re.escape(str(path))} is not a complete gzip"):
        lookup.fetch("mfeat", FILE)


def test_a_gzip_file_is_unpacked_up_to_a_limit(folders, put, register, monkeypatch):
    register("mfeat", FILE, GOOD * 300, None)
    monkeypatch.setattr(lookup, "LARGEST", len(GOOD) * 300)
    path = put(folders[0] / "mfeat" / f"{FILE}.gz", gzip.compress(GOOD * 300))
    assert lookup.fetch("mfeat", FILE) == path
    put(path, gzip.compress(GOOD * 301))
    with pytest.raises(DatasetCorrupted, match=f"{re.escape(str(path))} has more than .* unpacked"):
        lookup.fetch("mfeat", FILE)


def test_unreadable_file_is_a_sentence(folders, put, monkeypatch):
    path = put(folders[0] / "mfeat" / FILE, GOOD)

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(lookup, "open_content", refuse)
    with pytest.raises(DatasetUnavailable, match=f"{re.escape(str(path))} cannot be read"):
        lookup.fetch("mfeat", FILE)


def sha256(content):
    return hashlib.sha256(content).hexdigest()


REFUSED = f"(?s){FILE} from http.* was refused"
NO_GZIP = f"{REFUSED}: it is not a complete gzip file"
NOT_FOUND = "could not be downloaded .HTTP status 404"


@pytest.mark.parametrize(
    ("page", "content", "answer", "message"),
    [
        ("/a", b"else", {}, f"{REFUSED}.*{sha256(b'else')}"),
        ("/a", b"else", {}, f"{REFUSED}.*{sha256(GOOD)}"),
        ("/a.gz", gzip.compress(b"else", mtime=0), {}, REFUSED),
        ("/a.gz", gzip.compress(GOOD * 99, mtime=0)[:-9], {}, NO_GZIP),
        ("/a.gz", b"<html>not here</html>", {}, NO_GZIP),
        ("/a.gz", b"", {}, REFUSED),
        ("/a", b"", {"status": 404}, NOT_FOUND),
        ("/a.gz", b"", {"status": 404}, NOT_FOUND),
        ("/a", GOOD, {"length": 99}, "could not be downloaded"),  # interrupted
    ],
)
def test_download_that_fails_leaves_nothing(folders, register, web, page, content, answer, message):
    register("mfeat", FILE, GOOD, web.offer(page, content, **answer))
    with pytest.raises(DatasetUnavailable if answer else DatasetCorrupted, match=message):
        lookup.fetch("mfeat", FILE)
    assert files_below(folders[1]) == []


def test_stopping_a_download_leaves_nothing(folders, register, monkeypatch):
    register("mfeat", FILE, GOOD, "http://127.0.0.1/mor")

    def stopped(url, output_file, pooch_of_url):
        output_file.write(GOOD[:2])
        raise KeyboardInterrupt

    monkeypatch.setattr(pooch, "HTTPDownloader", lambda **options: stopped)
    with pytest.raises(KeyboardInterrupt):
        lookup.fetch("mfeat", FILE)
    assert files_below(folders[1]) == []


def test_download_that_is_too_large_is_given_up(folders, register, web, monkeypatch):
    monkeypatch.setattr(lookup, "LARGEST", 2000)
    good = GOOD * 300  # 1800 bytes
    register("mfeat", FILE, good, web.offer("/fits", good))
    assert lookup.fetch("mfeat", FILE).read_bytes() == good
    (folders[1] / "mfeat" / FILE).unlink()
    bomb = gzip.compress(GOOD * 400, mtime=0)
    assert len(bomb) < 2000
    for page, content in (("/large", GOOD * 400), ("/bomb.gz", bomb)):
        register("mfeat", FILE, GOOD * 400, web.offer(page, content))  # what the sha256 expects
        with pytest.raises(DatasetCorrupted, match=f"{REFUSED}: it has more than 2000 bytes"):
            lookup.fetch("mfeat", FILE)
        assert files_below(folders[1]) == []


def test_a_gzip_bomb_costs_no_memory(folders, register, web):
    content = bytes(30_000_000)
    register("mfeat", FILE, content, web.offer("/zeros.gz", gzip.compress(content)))
    del content
    lookup.fetch("mfeat", FILE)  # imports what it needs
    (folders[1] / "mfeat" / FILE).unlink()
    assert peak_bytes(lambda: lookup.fetch("mfeat", FILE)) < 5e6


def test_an_endless_trickle_is_given_up(folders, register, monkeypatch):
    """A byte a moment, for ever: no timeout of the network sees it."""

    class Trickle(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):  # the other side has gone
                while True:
                    self.wfile.write(b"1")
                    time.sleep(1e-4)

        def log_message(self, *args):
            pass

    monkeypatch.setattr(lookup, "LONGEST", 0.5)
    with ThreadingHTTPServer(("127.0.0.1", 0), Trickle) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        register("mfeat", FILE, GOOD, f"http://127.0.0.1:{server.server_address[1]}/mor")
        try:
            with pytest.raises(DatasetUnavailable, match="it takes more than 0.5 s"):
                lookup.fetch("mfeat", FILE)
        finally:
            server.shutdown()
    assert files_below(folders[1]) == []


def test_what_a_killed_download_left_is_removed_by_the_next_one(folders, put, offered):
    folder = folders[1] / "mfeat"
    old, new, other = (put(folder / name, b"") for name in ("tmpabcdefgh", "tmp12345678", "tmp.c"))
    long_ago = time.time() - lookup.LONGEST - 60
    for path in (old, other):
        os.utime(path, (long_ago, long_ago))
    lookup.fetch("mfeat", FILE)
    assert files_below(folders[1]) == sorted([new.name, other.name, FILE])  # new: still at work


def test_no_network_says_what_to_do(folders, register):
    data, cache = folders
    register("mfeat", FILE, GOOD, NOWHERE)
    with pytest.raises(DatasetUnavailable) as caught:
        lookup.fetch("mfeat", FILE)
    assert isinstance(caught.value, OSError)
    assert caught.value.__suppress_context__  # no trace of the network libraries
    for part in ("'mfeat'", NOWHERE, str(data / "mfeat")):
        assert part in str(caught.value)
    assert files_below(cache) == []


@pytest.mark.parametrize("read_only", [True, False], ids=["read only", "a file"])
def test_cache_that_cannot_be_written(folders, offered, monkeypatch, read_only):
    def refuse(**kwargs):
        raise PermissionError(13, "Permission denied")

    cache = folders[1]
    if read_only:
        monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    else:
        cache.write_text("")
    reason, place = "Permission denied" if read_only else ".*", re.escape(str(cache / "mfeat"))
    message = rf"the cache folder {place} is not writable \({reason}\). Set MVREF_CACHE"
    with pytest.raises(DatasetUnavailable, match=message):
        lookup.fetch("mfeat", FILE)
    assert offered.asked == []  # told before anything is downloaded


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_bar_only_for_a_terminal(folders, register, monkeypatch, terminal):
    register("mfeat", FILE, GOOD, NOWHERE)
    asked = {}

    def downloader(progressbar, chunk_size):
        asked["progressbar"] = progressbar
        return lambda url, output_file, pooch_of_url: output_file.write(GOOD)

    monkeypatch.setattr(pooch, "HTTPDownloader", downloader)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    lookup.fetch("mfeat", FILE)
    assert asked["progressbar"] is terminal


def test_download_is_silent_and_leaves_the_logger_alone(folders, offered, capfd):
    logger = pooch.get_logger()
    before, records = logger.level, []
    listener = logging.Handler()
    listener.emit = records.append
    logger.addHandler(listener)
    try:
        lookup.fetch("mfeat", FILE)
    finally:
        logger.removeHandler(listener)
    assert records == []
    assert logger.level == before != logging.WARNING
    assert capfd.readouterr() == ("", "")


def test_available_finds_without_opening(folders, put):
    data, cache = folders
    assert available() == {"digits": "embedded", "iris": "embedded", "mfeat": "embedded"}
    put(cache / "uwave" / "uwave_ucr2018_xyz.npz", b"not read")
    put(data / "flower17" / "flower17_7views_recomputed.npz", b"not read")
    found = available()
    assert found["uwave"] == str(cache / "uwave")
    assert "flower17" not in found  # its splits are missing
    put(cache / "flower17" / "datasplits.mat", b"not read")
    assert available()["flower17"] == str(data / "flower17")
    put(data / "reuters" / "Reuters-1200.mat", b"not read")  # the other subset is not there
    assert available()["reuters1200"] == str(data / "reuters")
    assert available().keys() == {"digits", "iris", "mfeat", "uwave", "flower17", "reuters1200"}


def test_registry_is_well_formed():
    assert BY_HAND.keys() == FILES.keys() == FOLDERS.keys()
    assert SOURCES["uwave"]["address"].startswith("https://timeseriesclassification.com")
    online = {name for name in FILES if any(url for _, url in FILES[name].values())}
    assert online == {"mfeat", "flower17", "mnist", "optdigits", *TABLES}
    assert all(len(FILES[name]) == 1 for name in TABLES)
    for dataset, files in FILES.items():
        for file, (sha256, url) in files.items():
            assert re.fullmatch("[0-9a-f]{64}", sha256), (dataset, file)
            if url is not None:
                assert url.startswith("https://")
                assert url.endswith((f"/{file}", f"/{file}.gz"))
                assert ("archive.ics.uci.edu/ml/" in url) == (dataset not in ("flower17", "mnist"))

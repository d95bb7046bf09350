"""Order of look-up, checks of files, downloads, and the sentences that a user reads."""

import gzip
import hashlib
import logging
import re
import sys
import tempfile

import pooch
import pytest

from mvref.datasets import (
    DatasetCorrupted,
    DatasetUnavailable,
    available,
    fetch_flower17,
    fetch_mfeat,
    fetch_uwave,
)
from mvref.datasets import _lookup as lookup
from mvref.datasets._sources import BY_HAND, FILES, FOLDERS, SOURCES

GOOD = b"1 2 3\n"
FILE = "mfeat-mor"
NOWHERE = "http://127.0.0.1:9/mfeat-mor"  # the discard port: nobody listens


def files_below(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_mvref_data_comes_before_the_cache(folders, put, register):
    data, cache = folders
    register("mfeat", FILE, GOOD, None)
    in_cache = put(cache / "mfeat" / FILE, GOOD)
    assert lookup.fetch("mfeat", FILE) == in_cache
    in_data = put(data / "mfeat" / FILE, GOOD)
    assert lookup.fetch("mfeat", FILE) == in_data


def test_a_local_file_is_never_downloaded_again(folders, put, register, web):
    data, _ = folders
    register("mfeat", FILE, GOOD, web.offer("/mor", GOOD))
    put(data / "mfeat" / FILE, GOOD)
    lookup.fetch("mfeat", FILE)
    assert web.asked == []


def test_no_variable_means_the_operating_systems_cache(monkeypatch):
    monkeypatch.delenv("MVREF_DATA", raising=False)
    monkeypatch.delenv("MVREF_CACHE", raising=False)
    assert lookup.data_folders("uwave") == [pooch.os_cache("mvref") / "uwave"]
    monkeypatch.setenv("MVREF_DATA", "")
    assert len(lookup.data_folders("uwave")) == 1


def test_gzip_is_checked_by_its_content(folders, put, register):
    data, _ = folders
    register("mfeat", FILE, GOOD, None)
    for level in (1, 9):  # different bytes, same content
        path = put(data / "mfeat" / f"{FILE}.gz", gzip.compress(GOOD, level))
        assert lookup.fetch("mfeat", FILE) == path


@pytest.mark.parametrize("where", [0, 1], ids=["MVREF_DATA", "cache"])
def test_wrong_hash_names_file_and_both_hashes(folders, put, where):
    path = put(folders[where] / "mfeat" / FILE, b"tampered")
    with pytest.raises(DatasetCorrupted) as caught:
        lookup.fetch("mfeat", FILE)
    assert isinstance(caught.value, ValueError)
    message = str(caught.value)
    assert str(path) in message
    assert FILES["mfeat"][FILE][0] in message
    assert hashlib.sha256(b"tampered").hexdigest() in message
    assert path.read_bytes() == b"tampered"  # a user's file is theirs: not touched


def test_truncated_gzip_is_a_sentence(folders, put):
    data, _ = folders
    path = put(data / "mfeat" / f"{FILE}.gz", gzip.compress(GOOD * 1000)[:-9])
    with pytest.raises(DatasetCorrupted, match=f"{re.escape(str(path))} is not a complete gzip"):
        lookup.fetch("mfeat", FILE)


def test_unreadable_file_is_a_sentence(folders, put, monkeypatch):
    data, _ = folders
    path = put(data / "mfeat" / FILE, GOOD)

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(lookup, "open_content", refuse)
    with pytest.raises(DatasetUnavailable, match=f"{re.escape(str(path))} cannot be read"):
        lookup.fetch("mfeat", FILE)


def test_download_is_checked_and_kept(folders, register, web):
    _, cache = folders
    register("mfeat", FILE, GOOD, web.offer("/mor", GOOD))
    path = lookup.fetch("mfeat", FILE)
    assert path == cache / "mfeat" / FILE
    assert path.read_bytes() == GOOD
    assert lookup.fetch("mfeat", FILE) == path
    assert web.asked == ["/mor"]
    assert files_below(cache) == [FILE]  # no temporary file


def test_corrupted_download_is_refused_and_leaves_nothing(folders, register, web):
    _, cache = folders
    url = web.offer("/mor", b"something else")
    register("mfeat", FILE, GOOD, url)
    with pytest.raises(DatasetCorrupted) as caught:
        lookup.fetch("mfeat", FILE)
    message = str(caught.value)
    for part in (FILE, url, hashlib.sha256(GOOD), hashlib.sha256(b"something else")):
        assert (part if isinstance(part, str) else part.hexdigest()) in message
    assert files_below(cache) == []


def test_gzip_is_downloaded_unpacked_and_checked(folders, register, web):
    _, cache = folders
    register("mfeat", FILE, GOOD, web.offer("/mor.gz", gzip.compress(GOOD)))
    path = lookup.fetch("mfeat", FILE)
    assert path == cache / "mfeat" / FILE
    assert path.read_bytes() == GOOD
    assert lookup.fetch("mfeat", FILE) == path
    assert web.asked == ["/mor.gz"]
    assert files_below(cache) == [FILE]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"something else"), "refused"),
        (gzip.compress(GOOD * 1000)[:-9], "refused: it is not a complete gzip file"),
        (b"<html>not here</html>", "refused: it is not a complete gzip file"),
        (b"", "refused"),
    ],
    ids=["other content", "truncated", "not gzip", "empty"],
)
def test_corrupted_gzip_download_leaves_nothing(folders, register, web, content, message):
    _, cache = folders
    url = web.offer("/mor.gz", content)
    register("mfeat", FILE, GOOD, url)
    with pytest.raises(DatasetCorrupted, match=f"{FILE} from {url} was {message}"):
        lookup.fetch("mfeat", FILE)
    assert files_below(cache) == []


def test_missing_gzip_is_unavailable(folders, register, web):
    _, cache = folders
    register("mfeat", FILE, GOOD, web.root + "/gone.gz")
    with pytest.raises(DatasetUnavailable, match="HTTP status 404"):
        lookup.fetch("mfeat", FILE)
    assert files_below(cache) == []


def test_interrupted_download_leaves_nothing(folders, register, web):
    _, cache = folders
    register("mfeat", FILE, GOOD * 100, web.offer("/mor", GOOD, length=len(GOOD) * 100))
    with pytest.raises(DatasetUnavailable):
        lookup.fetch("mfeat", FILE)
    assert files_below(cache) == []


def test_stopping_a_download_leaves_nothing(folders, register, monkeypatch):
    _, cache = folders
    register("mfeat", FILE, GOOD, "http://127.0.0.1/mor")

    def stopped(url, output_file, pooch):
        with open(output_file, "wb") as stream:
            stream.write(GOOD[:2])
        raise KeyboardInterrupt

    monkeypatch.setattr("pooch.core.choose_downloader", lambda url, progressbar: stopped)
    with pytest.raises(KeyboardInterrupt):
        lookup.fetch("mfeat", FILE)
    assert files_below(cache) == []


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


def test_missing_page_is_unavailable(folders, register, web):
    register("mfeat", FILE, GOOD, web.root + "/gone")
    with pytest.raises(DatasetUnavailable, match="HTTP status 404"):
        lookup.fetch("mfeat", FILE)


def test_cache_that_is_a_file(folders, register, web, tmp_path, monkeypatch):
    register("mfeat", FILE, GOOD, web.offer("/mor", GOOD))
    blocked = tmp_path / "not-a-folder"
    blocked.write_text("")
    monkeypatch.setenv("MVREF_CACHE", str(blocked))
    with pytest.raises(DatasetUnavailable, match="cannot be written .*; set MVREF_CACHE"):
        lookup.fetch("mfeat", FILE)
    assert web.asked == []  # told before anything is downloaded


def test_read_only_cache(folders, register, web, monkeypatch):
    _, cache = folders
    register("mfeat", FILE, GOOD, web.offer("/mor", GOOD))

    def refuse(**kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(DatasetUnavailable) as caught:
        lookup.fetch("mfeat", FILE)
    assert f"the cache folder {cache / 'mfeat'} cannot be written (Permission denied)" in str(
        caught.value
    )
    assert web.asked == []


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_bar_only_for_a_terminal(folders, register, monkeypatch, tmp_path, terminal):
    register("mfeat", FILE, GOOD, NOWHERE)
    asked = {}

    def retrieve(url, known_hash, fname, path, progressbar):
        asked["progressbar"] = progressbar
        return str(tmp_path / fname)

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    lookup.fetch("mfeat", FILE)
    assert asked["progressbar"] is terminal


def test_download_is_silent_and_leaves_the_logger_alone(folders, register, web, capfd):
    logger = pooch.get_logger()
    before, records = logger.level, []
    listener = logging.Handler()
    listener.emit = records.append
    logger.addHandler(listener)
    register("mfeat", FILE, GOOD, web.offer("/mor", GOOD))
    try:
        lookup.fetch("mfeat", FILE)
    finally:
        logger.removeHandler(listener)
    assert records == []
    assert logger.level == before != logging.WARNING
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("fetch", "name", "address"),
    [
        (fetch_uwave, "uwave", "https://timeseriesclassification.com"),
        (fetch_flower17, "flower17", SOURCES["flower17"]["address"]),
    ],
)
def test_data_that_nobody_may_pass_on(folders, fetch, name, address):
    data, _ = folders
    with pytest.raises(DatasetUnavailable) as caught:
        fetch()
    for part in (repr(name), address, str(data / name)):
        assert part in str(caught.value)


def test_fetch_mfeat_downloads_checks_and_reads(folders, register, web):
    widths = {"fac": 216, "fou": 76, "kar": 64, "mor": 6, "pix": 240, "zer": 47}
    for value, (view, width) in enumerate(widths.items()):
        content = (f" {value}.5" * width + "\n").encode() * 2000
        register("mfeat", f"mfeat-{view}", content, web.offer(f"/{view}", content))
    mfeat = fetch_mfeat()
    assert mfeat.X.widths == list(widths.values())
    assert [view[0, 0] for view in mfeat.X.views] == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    fetch_mfeat()
    assert web.asked == [f"/{view}" for view in widths]
    assert FILES["mfeat"]["mfeat-zer"][0] in mfeat.DESCR
    assert "mfeat_original" in available()


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
    assert available().keys() == {"digits", "iris", "mfeat", "uwave", "flower17"}


def test_subsets_share_a_folder(folders, put):
    data, cache = folders
    assert lookup.data_folders("reuters600") == lookup.data_folders("reuters1200")
    put(data / "reuters" / "Reuters-1200.mat", b"not read")
    assert available()["reuters1200"] == str(data / "reuters")
    assert "reuters600" not in available()
    put(cache / "reuters" / "reuters600_fullvocab.mat", b"not read")
    assert available()["reuters600"] == str(cache / "reuters")


def test_registry_is_well_formed():
    assert BY_HAND.keys() == FILES.keys() >= FOLDERS.keys()
    for dataset, files in FILES.items():
        for file, (sha256, url) in files.items():
            assert re.fullmatch("[0-9a-f]{64}", sha256), (dataset, file)
            if url is not None:
                assert url.startswith("https://")
                assert url.endswith((f"/{file}", f"/{file}.gz"))

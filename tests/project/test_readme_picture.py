"""The picture of README and welcome page shows what the first table of part I, Run, shows."""

import re
import struct

from book.draw_readme import PICTURE, accuracies
from book.execute import BOOK
from tests.chapters.notebooks import read


def told_by_the_file():
    """The accuracies that were drawn, from the description inside the picture."""
    content, place, words = PICTURE.read_bytes(), 8, ""
    while place < len(content):
        length, kind = struct.unpack(">I4s", content[place : place + 8])
        if kind == b"tEXt":
            words = content[place + 8 : place + 8 + length].decode("latin-1").split("\0")[1]
        place += 12 + length
    return dict(part.rsplit(" ", 1) for part in words.split(", "))


def test_the_picture_is_that_of_today():
    assert told_by_the_file() == accuracies()


def test_the_chapter_and_the_page_tell_the_same():
    told = told_by_the_file()
    tables = [
        output.data["text/plain"]
        for cell in read(BOOK / "mvl_svm" / "run.ipynb").cells
        for output in cell.get("outputs", [])
        if "top_left" in output.get("data", {}).get("text/plain", "")
    ]
    rows = dict(re.findall(r"^(\w+) alone \(MVLSVM\) +(0\.\d{3})$", tables[0], re.MULTILINE))
    rows |= re.findall(r"^(four views) \(MVLSVM\) +(0\.\d{3})$", tables[0], re.MULTILINE)
    rows["all four views"] = rows.pop("four views")
    assert rows == told
    [alt] = re.findall(r"^:alt: (.*)$", (BOOK / "intro.md").read_text("utf-8"), re.MULTILINE)
    *quarters, together = told.values()
    assert re.findall(r"0\.\d+", alt) == [min(quarters), max(quarters), together]

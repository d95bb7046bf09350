"""The pictures of README and welcome page show what part I, Run, and the report show."""

import re
import struct

from book.draw_welcome import VERDICT, WORTH, accuracies, verdicts, words_of
from book.execute import BOOK
from tests.chapters.notebooks import read


def told_by(picture):
    """What was drawn, from the description inside the picture."""
    content, place, words = picture.read_bytes(), 8, ""
    while place < len(content):
        length, kind = struct.unpack(">I4s", content[place : place + 8])
        if kind == b"tEXt":
            words = content[place + 8 : place + 8 + length].decode("latin-1").split("\0")[1]
        place += 12 + length
    return words


def alternative(picture):
    """What the welcome page says to those who do not see a picture."""
    text = (BOOK / "intro.md").read_text("utf-8")
    return re.search(rf"{picture.name}\n:alt: (.*)", text)[1]


def test_the_pictures_are_those_of_today():
    assert told_by(WORTH) == words_of(accuracies())
    counts = verdicts()
    assert told_by(VERDICT) == str(counts.to_numpy().tolist())
    total = counts.sum()
    told = ", ".join(f"{total[verdict]} {verdict}" for verdict in counts)
    assert alternative(VERDICT).endswith(f"In all, of {total.sum()}: {told}.")


def test_the_chapter_and_the_page_tell_the_same():
    told = dict(part.rsplit(" ", 1) for part in told_by(WORTH).split(", "))
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
    *quarters, together = told.values()
    assert re.findall(r"0\.\d+", alternative(WORTH)) == [min(quarters), max(quarters), together]

"""README and welcome page tell and draw what the study and the report say today."""

import re
import struct

from book.draw_welcome import (
    MARKS,
    PAGES,
    VERDICT,
    WORTH,
    answers,
    findings,
    verdicts,
    words_of,
)
from book.execute import BOOK


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
    assert told_by(WORTH) == words_of(answers())
    counts = verdicts()
    assert told_by(VERDICT) == str(counts.to_numpy().tolist())
    total = counts.sum()
    told = ", ".join(f"{total[verdict]} {verdict}" for verdict in counts)
    assert alternative(VERDICT).endswith(f"In all, of {total.sum()}: {told}.")


def test_the_findings_are_those_of_today():
    for page in PAGES:
        text = page.read_text("utf-8")
        assert text.split(MARKS[0])[1].split(MARKS[1])[0] == findings()

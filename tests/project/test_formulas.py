"""What pages get for a phone: a short formula and the punctuation at its sides stay on one line."""

from pathlib import Path

import pytest
from docutils import nodes

from book._ext.formulas import LONGEST, WHOLE, keep_whole

ROOT = Path(__file__).resolve().parents[2]
LONG = "x" * (LONGEST + 1)


def framed(*words):
    """The parts of a paragraph after the transform: formulas between dollars, frames in < >."""
    row = nodes.paragraph()
    row += [nodes.math(w[1:-1], w[1:-1]) if w[0] == "$" else nodes.Text(w) for w in words]
    before = row.astext()
    keep_whole(None, nodes.section("", row), "a")
    assert row.astext() == before and all(part.parent is not None for part in row.findall())
    frames = [node for node in row.findall(nodes.inline) if node["classes"] == [WHOLE]]
    assert all(len(list(frame.findall(nodes.math))) == 1 for frame in frames)
    return [frame.astext() for frame in frames]


@pytest.mark.parametrize(
    "words, frames",
    [
        (("after ", "$x$", ", and"), ["x,"]),
        (("(", "$x$", ")."), ["(x)."]),
        (("($n", "$x$"), []),
        (("a “", "$x$", "”, ", "$y$", ";"), ["“x”,", "y;"]),
        (("$a$", "/", "$b$", ": both"), ["a/", "b:"]),
        (("$a$", "$b$", ","), ["b,"]),
        (("$k$", "-th of ", "$n$", " rows"), ["k-"]),
        (("alone ", "$x$"), []),
        (("$x$",), []),
        (("$x$", " (all)"), []),
        (("long: ", f"${LONG}$", ", and ", f"${LONG[1:]}$", "."), [f"{LONG[1:]}."]),
    ],
)
def test_punctuation_stays_with_a_short_formula(words, frames):
    assert framed(*words) == frames


def test_the_style_sheet_knows_the_frame():
    style = (ROOT / "book" / "_static" / "mvref.css").read_text(encoding="utf-8")
    assert f".{WHOLE} {{\n  white-space: nowrap;" in style

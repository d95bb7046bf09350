"""MNIST in four windows: the original files, the IDX format, the cuts."""

import gzip
import struct

import numpy as np
import pytest

from mvref.datasets import DatasetCorrupted, available, fetch_mnist_views
from mvref.datasets import _mnist as mnist_module
from mvref.datasets._lookup import locate, open_content
from mvref.datasets._sources import SOURCES

ADDRESS = SOURCES["mnist"]["address"]

NAMES = ["top_left", "top_right", "bottom_left", "bottom_right"]


def original_images(part):
    """Images of the original file, read without the loader."""
    with open_content(locate("mnist", f"{part}-images-idx3-ubyte")) as stream:
        stream.read(16)
        return np.frombuffer(stream.read(), np.uint8).reshape(-1, 28, 28)


def idx(values):
    """Write an IDX file of bytes, by its description."""
    return struct.pack(f">I{values.ndim}I", 0x0800 + values.ndim, *values.shape) + values.tobytes()


def small_mnist(monkeypatch, rng, n_train=12, n_test=10):
    """Contents of four small files of MNIST's form, whose sizes the loader then expects."""
    monkeypatch.setattr(mnist_module, "N_IMAGES", {"train": n_train, "t10k": n_test})
    arrays = {}
    for part, n in (("train", n_train), ("t10k", n_test)):
        arrays[f"{part}-images-idx3-ubyte"] = rng.integers(0, 256, (n, 28, 28), dtype=np.uint8)
        arrays[f"{part}-labels-idx1-ubyte"] = np.arange(n, dtype=np.uint8) % 10
    return arrays


def test_what_it_says_of_itself(mnist):
    assert mnist.name == "mnist1" and mnist.splits[0][1].dtype.kind == "i"
    assert mnist.meta["image_shape"] == (28, 28) and mnist.meta["shift"] == 0


def test_quarters_tile_the_images(mnist):
    rebuilt = np.full((70_000, 28, 28), 255, np.uint8)
    for view, (rows, columns) in zip(mnist.X.views, mnist.meta["regions"], strict=True):
        rebuilt[:, rows, columns] = view.reshape(-1, 14, 14)
    np.testing.assert_array_equal(rebuilt[:60_000], original_images("train"))
    np.testing.assert_array_equal(rebuilt[60_000:], original_images("t10k"))
    assert rebuilt.min() == 0 and rebuilt.max() == 255
    assert round(rebuilt[:60_000].mean() / 255, 5) == 0.13066  # the mean that others publish


def test_views_are_stored_once_as_rows(mnist):
    for view in mnist.X.views:
        assert view.dtype == np.float64 and view.flags.c_contiguous
        assert view.base is None or view.base.nbytes == 70_000 * 196 * 8


def test_default_shift_is_ours_and_said(need):
    need("mnist")
    moved = fetch_mnist_views(overlap=True)
    assert moved.meta["shift"] == 3
    image = original_images("t10k")[-1]
    literal = [image[3:17, 3:17], image[3:17, 11:25], image[11:25, 3:17], image[11:25, 11:25]]
    for view, window in zip(moved.X.views, literal, strict=True):
        np.testing.assert_array_equal(view[-1], window.ravel())
    assert "mnist2" in moved.name and "3" in moved.name
    assert "a choice of mvref" in " ".join(moved.DESCR.split())


@pytest.mark.parametrize("shift", range(8))
def test_windows_have_one_size_and_move_to_the_centre(shift):
    regions = mnist_module.window_regions(shift)
    assert list(regions) == NAMES
    seen = np.zeros((28, 28), dtype=int)
    for rows, columns in regions.values():
        assert seen[rows, columns].shape == (14, 14)
        seen[rows, columns] += 1
    # every mirror image of the four windows is the four windows
    for mirrored in (seen[::-1], seen[:, ::-1], seen.T):
        np.testing.assert_array_equal(seen, mirrored)
    assert (seen == 4).sum() == (2 * shift) ** 2 if shift < 7 else (seen == 4).sum() == 14**2
    assert not seen[:shift].any() and not seen[28 - shift :].any()
    # top left stays at the top left
    assert regions["top_left"] == (slice(shift, shift + 14),) * 2
    assert regions["top_right"][0] == regions["top_left"][0]
    assert regions["bottom_left"][1] == regions["top_left"][1]


@pytest.mark.parametrize("shift", [None, 1, 7])
def test_downloads_checks_unpacks_and_cuts(folders, register, web, monkeypatch, shift):
    _, cache = folders
    arrays = small_mnist(monkeypatch, np.random.default_rng(0))
    for file, values in arrays.items():
        url = web.offer(f"/{file}.gz", gzip.compress(idx(values)))
        register("mnist", file, idx(values), url)
    assert "mnist" not in available()
    mnist = fetch_mnist_views(overlap=shift is not None, shift=shift)
    images = np.concatenate([v for file, v in arrays.items() if "images" in file])
    regions = mnist_module.window_regions(shift or 0).values()
    for view, region in zip(mnist.X.views, regions, strict=True):
        for row, image in zip(view, images, strict=True):
            np.testing.assert_array_equal(row, image[region].ravel())
    np.testing.assert_array_equal(mnist.y, np.r_[np.arange(12), np.arange(10)] % 10)
    ((train, validation, test),) = mnist.splits
    assert (len(train), len(validation), len(test)) == (12, 0, 10)
    fetch_mnist_views()
    assert web.asked == [f"/{file}.gz" for file in arrays]  # once
    assert available()["mnist"] == str(cache / "mnist")
    assert sorted(path.name for path in (cache / "mnist").iterdir()) == sorted(arrays)


@pytest.mark.parametrize("compressed", [True, False])
def test_local_files_in_both_forms(folders, put, register, monkeypatch, compressed):
    data, _ = folders
    arrays = small_mnist(monkeypatch, np.random.default_rng(1))
    for file, values in arrays.items():
        content = idx(values)
        register("mnist", file, content, None)
        put(data / "mnist" / (f"{file}.gz" if compressed else file), content)
    assert available()["mnist"] == str(data / "mnist")
    quarters = fetch_mnist_views().X
    assert quarters.shape == (22, 784)
    top_left = np.concatenate([v[:, :14, :14] for f, v in arrays.items() if "images" in f])
    np.testing.assert_array_equal(quarters.views[0], top_left.reshape(22, -1))


def test_one_file_is_not_the_data_set(folders, put):
    put(folders[0] / "mnist" / "train-images-idx3-ubyte.gz", b"not read")
    assert "mnist" not in available()


def test_truncated_local_file(folders, put):
    content = gzip.compress(b"other images")[:-5]
    put(folders[0] / "mnist" / "train-images-idx3-ubyte.gz", content)
    with pytest.raises(DatasetCorrupted, match="not a complete gzip"):
        fetch_mnist_views()


def test_labels_must_be_digits(put, tmp_path, monkeypatch):
    arrays = small_mnist(monkeypatch, np.random.default_rng(2))
    arrays["t10k-labels-idx1-ubyte"][4] = 10
    paths = {
        part: [put(tmp_path / file, idx(arrays[file])) for file in files]
        for part, files in mnist_module.PARTS.items()
    }
    with pytest.raises(DatasetCorrupted, match="t10k-labels-idx1-ubyte must hold the digits"):
        mnist_module.read_parts(paths)

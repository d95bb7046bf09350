"""Entries of ``data/SOURCES.toml``: the files of the data sets, and the text of ``DESCR``."""

import textwrap
import tomllib
from importlib.resources import files

SOURCES = tomllib.loads((files(__package__) / "data" / "SOURCES.toml").read_text("utf-8"))
_FETCHED = {name: entry for name, entry in SOURCES.items() if "by_hand" in entry}

# data set -> instructions for obtaining it
BY_HAND = {name: entry["by_hand"].format(**entry) for name, entry in _FETCHED.items()}
# data set -> its folder
FOLDERS = {name: entry.get("folder", name) for name, entry in _FETCHED.items()}
# data set -> the folder of its files in an installed package
PACKAGES = {name: entry["package"] for name, entry in _FETCHED.items() if "package" in entry}
# data set -> file -> (sha256 of its uncompressed content, URL or None)
FILES = {
    name: {
        file: (sha256, url[0].format(**{**entry, "file": file}) if url else None)
        for file, (sha256, *url) in entry.get("files", {}).items()
    }
    for name, entry in _FETCHED.items()
}


def checksums(dataset, files):
    """Return file -> sha256 for those of `files` whose content is known; a final .gz is ignored."""
    names = [file.removesuffix(".gz") for file in files]
    return {name: FILES[dataset][name][0] for name in names if name in FILES[dataset]}


def kinds() -> dict[str, dict]:
    """Describe the origin of the views of every data set: several instruments, one, or simulated.

    Returns
    -------
    kinds : dict
        Name, as in :func:`available` or of simulated data -> a dictionary:

        - ``kind``: "instruments", if the views come from several instruments or sources; "cut", if
          one instrument or record was cut into views, or described in several ways; "drawn", if
          the data are simulated;
        - ``instruments``: list of them, empty for simulated data;
        - ``groups``: the key of ``meta`` with the groups of samples that belong together, "" if
          there are no groups or they are not known;
        - ``before``: how the data were processed before they are loaded;
        - ``licence``, as in ``DESCR``.

    Examples
    --------
    >>> from mvref.datasets import kinds
    >>> kinds()["shoulder-exercises"]["instruments"]
    ['accelerometer', 'gyroscope']
    >>> [name for name, about in kinds().items() if about["kind"] == "drawn"]
    ['two_moons', 'interactions']
    """
    return {
        name: {
            "kind": entry["kind"],
            "instruments": list(entry.get("instruments", [])),
            "groups": entry.get("groups", ""),
            "before": " ".join(entry["before"].split()),
            "licence": " ".join(entry["licence"].split()),
        }
        for name, entry in ((name, _entry(name)) for name in SOURCES if "kind" in SOURCES[name])
    }


def _entry(source):
    """Return an entry of ``SOURCES.toml``, with defaults from the entry named by its ``like``."""
    entry = SOURCES[source]
    return SOURCES.get(entry.get("like"), {}) | entry


def describe(source, X, checksums=None, **values):
    """Return the ``DESCR`` of a data set, the same sections in the same order for all.

    source: an entry of ``SOURCES.toml``; X: the views, for their shapes; values: replace the
    entry's fields in braces.
    """
    fields = _entry(source) | values
    names = ("title", "source", "licence", "citation", "notes")
    title, origin, licence, citation, notes = (fields[name].format(**fields) for name in names)
    views = [f"{n}: ({X.n_samples}, {w})" for n, w in zip(X.names, X.widths, strict=True)]
    sums = [f"{file}: {sha256}" for file, sha256 in (checksums or {}).items()]
    sections = {
        "Source": origin,
        "Licence": licence,
        "Citation": citation,
        "Shapes": "\n\n".join(views),
        "Checksums (sha256)": "\n\n".join(sums) or "no data file: see the source",
        "Notes": notes,
    }
    parts = [f"{title}\n{'=' * len(title)}"]
    parts += [f"{head}\n{'-' * len(head)}\n{_wrap(text)}" for head, text in sections.items()]
    return "\n\n".join(parts) + "\n"


def _wrap(text):
    """Wrap each paragraph of `text`, but never inside a word, an address or a checksum."""
    wrapper = textwrap.TextWrapper(88, break_long_words=False, break_on_hyphens=False)
    return "\n".join(wrapper.fill(paragraph) for paragraph in text.strip().split("\n\n"))

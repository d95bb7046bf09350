"""What ``data/SOURCES.toml`` knows of the data sets: their files, and the text of ``DESCR``."""

import textwrap
import tomllib
from importlib.resources import files

SOURCES = tomllib.loads((files(__package__) / "data" / "SOURCES.toml").read_text("utf-8"))
_FETCHED = {name: entry for name, entry in SOURCES.items() if "by_hand" in entry}

# data set -> what a user does to get it
BY_HAND = {name: entry["by_hand"].format(**entry) for name, entry in _FETCHED.items()}
# data set -> its folder
FOLDERS = {name: entry.get("folder", name) for name, entry in _FETCHED.items()}
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


def describe(source, X, checksums=None, **values):
    """Write the ``DESCR`` of a data set, the same sections in the same order for all.

    source: an entry of ``SOURCES.toml``; X: the shapes are read off it; values: what the entry has
    in braces.
    """
    entry = SOURCES[source]
    fields = SOURCES.get(entry.get("like"), {}) | entry | values
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

"""Execute chapters, as many at a time as there are cores (four at the most).

python book/execute.py                    every chapter, in place (this is `make chapters`)
python book/execute.py book/data.ipynb    the named ones, in place
python book/execute.py --cache            those that the builder's cache lacks, into it; `make book`
                                          does this first, since the builder runs one at a time
python book/execute.py --cache --compare  the same; then every output in the cache is compared with
                                          the one stored in its chapter (this is `make outputs`)

A folder after --cache takes the place of the builder's cache.
Running a chapter in place twice gives the same bytes.
"""

import argparse
import difflib
import sys
from pathlib import Path

import nbformat
import nbformat.reader
from joblib import Parallel, cpu_count, delayed
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

BOOK = Path(__file__).resolve().parent
CACHE = BOOK.parent / "_build" / ".jupyter_cache"
# A kernel takes up to half a gigabyte.
MOST_AT_A_TIME = 4
# No patch version of Python, no widths of windows: nothing that differs between machines.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
CELL_METADATA = ("tags", "mystnb")


def chapters():
    """Every notebook below book/, the largest first: these tend to be the slowest."""
    found = sorted(BOOK.rglob("*.ipynb"), key=lambda path: (-path.stat().st_size, path))
    return [path for path in found if ".ipynb_checkpoints" not in path.parts]


def name_of(path):
    """The path as a reader knows it."""
    return path.relative_to(BOOK.parent).as_posix()


def read(path):
    """Read a chapter with the plain reader: nbformat.read invents names for cells without one."""
    return nbformat.reader.reads(path.read_text(encoding="utf-8"))


def normalise(notebook):
    """Drop what editors and kernels add, and name the cells that have no name yet."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat_minor = 5
    names = {cell.get("id") for cell in notebook.cells}
    for number, cell in enumerate(notebook.cells, start=1):
        if "id" not in cell:
            cell["id"] = f"cell-{number}" if f"cell-{number}" not in names else f"new-{number}"
        for key in set(cell.metadata) - set(CELL_METADATA):
            del cell.metadata[key]


def run(notebook, path):
    """Run a chapter from top to bottom, in its own folder."""
    NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        # Without this every kernel remarks on its connection.
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()


def execute(path):
    """Run one chapter; return its path, the notebook and, where a cell fails, the error."""
    notebook = read(path)
    normalise(notebook)
    try:
        run(notebook, path)
    except CellExecutionError as error:
        return path, notebook, str(error)
    normalise(notebook)
    return path, notebook, None


def lacking(cache):
    """The chapters that the cache does not have in their present form."""
    for path in chapters():
        try:
            cache.match_cache_notebook(read(path))
        except KeyError:
            yield path


def shown(outputs):
    """What the outputs of a cell show, as one text for each stream and MIME type but pictures."""
    texts = {}
    for output in outputs:
        kinds = dict(output.get("data", {}))
        if output.output_type == "stream":
            kinds = {output.name: output.text}
        for kind, value in kinds.items():
            if not kind.startswith("image/"):
                texts[kind] = texts.get(kind, "") + str(value)
    return texts


def differences(stored, executed):
    """A text for each code cell that shows something else than what is stored, pictures aside."""
    for before, after in zip(stored.cells, executed.cells, strict=True):
        if before.cell_type != "code" or "ignore-output" in before.metadata.get("tags", []):
            continue
        old, new = shown(before.outputs), shown(after.outputs)
        for kind in sorted(old.keys() | new.keys()):
            pair = (old.get(kind, "").splitlines(), new.get(kind, "").splitlines())
            lines = difflib.unified_diff(*pair, "stored", "now", lineterm="", n=0)
            if pair[0] != pair[1]:
                yield "\n".join([f"{before.get('id')}, {kind}", *lines])


def execute_side_by_side(paths, keep):
    """Execute chapters, hand each one that succeeds to ``keep``, and stop if one did not."""
    jobs = max(1, min(cpu_count(), MOST_AT_A_TIME, len(paths)))
    failed = []
    done = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
        delayed(execute)(path) for path in paths
    )
    for number, (path, notebook, error) in enumerate(done, start=1):
        print(f"[{number}/{len(paths)}] {name_of(path)}", flush=True)
        if error:
            failed.append(name_of(path))
            print(error, file=sys.stderr)
        else:
            keep(notebook, path)
    if failed:
        sys.exit(f"a cell failed in {', '.join(failed)}")


def compare(cache):
    """Print where chapters show something else than what is stored; stop if there are any."""
    changed = 0
    for path in chapters():
        stored = read(path)
        executed = cache.merge_match_into_notebook(read(path))[1]
        for text in differences(stored, executed):
            changed += 1
            print(f"{name_of(path)}: {text}\n")
    print(f"{len(chapters())} chapters, {changed} outputs that are not as stored")
    sys.exit(changed > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chapters", nargs="*", type=Path)
    parser.add_argument("--cache", nargs="?", type=Path, const=CACHE)
    parser.add_argument("--compare", action="store_true")
    asked = parser.parse_args()
    if asked.cache and asked.chapters:
        parser.error("--cache takes every chapter that the cache lacks, and no names")
    if asked.compare and not asked.cache:
        parser.error("--compare needs --cache")
    if not asked.cache:
        paths = [path.resolve() for path in asked.chapters] or chapters()
        execute_side_by_side(paths, keep=nbformat.write)
        return
    cache = get_cache(asked.cache)

    def keep(notebook, path):
        bundle = CacheBundleIn(notebook, str(path))
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)

    execute_side_by_side(list(lacking(cache)), keep)
    if asked.compare:
        compare(cache)


if __name__ == "__main__":
    main()

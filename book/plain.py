"""Copies of the chapters for programs without support for this book, such as JupyterLab.

python book/plain.py notebooks                        copies that a folder lacks (`make lab`)
python book/plain.py book                             in place of the chapters (Binder's image)
python book/plain.py _build/html                      downloads of the pages (`make book`)
python book/plain.py _build/exercises --no-solutions  without solutions (`make exercises`)

A copy runs where mvref, matplotlib and the packages in `NEEDS` are installed. Its first cell
installs missing packages, and fetches the experiments and their stored rows, one file, which may
also lie beside the notebook.

References that the HTML resolves are plain text: the numbers of formulas, theorems, exercises and
figures, citations, and numbers that come from cells. Boxes are quotations, captions are cells, and
cells that the HTML folds are folded.
"""

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZipFile

import yaml
from markdown_it import MarkdownIt
from pybtex.database import parse_file

BOOK = Path(__file__).resolve().parent
ROOT = BOOK.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HOME = PROJECT["urls"]["Documentation"]
ROWS, STUDY = "mvref_book.zip", "mvref_study.zip"  # the second: predictions of the study
WHEEL = f"mvref-{PROJECT['version']}-py3-none-any.whl"
OUTSIDE = "outside-the-book"  # id and tag of the first cell of a copy
INSTALL = """# Outside the book: install what this notebook needs and this computer lacks.
import importlib.util

if not all(map(importlib.util.find_spec, {packages})):
    %pip install --quiet {requirements}
"""
NEEDS = {"cvxopt": r"cvxopt|FSMulti|all_methods\(\)", "skops": "skops", "pyarrow": "parquet",
         "mapie": "ConformalByPattern"}  # fmt: skip
FETCH = f"""
# What is stored for this notebook comes as files, which may lie beside it.
from pathlib import Path
from urllib.request import urlretrieve
from zipfile import ZipFile


def fetch(name):
    rows = next(filter(Path.exists, (Path(name), Path("..", name))), None)
    ZipFile(rows or urlretrieve(f"{HOME}_static/{{name}}", name)[0]).extractall()
"""
UNLESS = """

try:
    {wanted}
except (ModuleNotFoundError, FileNotFoundError):
    fetch("{file}")
"""
KEPT = """from mvref.experiments.engine import LEDGER

    next((LEDGER / "study").iterdir())"""
WANTED = {  # what a notebook needs: the text that shows the need, and the file that has it
    "import mvref.experiments": (r"mvref\.experiments", ROWS),
    'Path("mvl_svm.toml").read_text()': (r"\.toml", ROWS), KEPT: ("study_reading", STUDY),
}  # fmt: skip
GLUE = re.compile("^from myst_nb import glue\n", re.M)
NO_GLUE = '''

def glue(*args, **kwargs):
    """Do nothing: the numbers of the text are text here."""


'''
NUMBERED = {  # directive -> name in front of the number
    "exercise": "Exercise", "math": "", "figure": "Fig.",
    **{f"prf:{name}": name.capitalize() for name in (
        "theorem", "proposition", "lemma", "definition", "remark", "corollary", "algorithm")},
}  # fmt: skip
FOLDED = {"hide-input": "source_hidden", "remove-input": "source_hidden",
          "hide-output": "outputs_hidden", "remove-output": "outputs_hidden"}  # fmt: skip
FORMULA = re.compile(r"^\$\$ *\(([\w-]+)\) *$", re.M)
LINK = re.compile(r"(?<=\]\()(?:([\w./-]+)\.md)?(?:#([\w-]+))?(?=\))")
SOLUTION = re.compile(r"^(`{3,})\{solution\}.*?^\1$", re.M | re.S)
ROLE = re.compile(r"\{([\w:]+)\}`([^`]+)`")
SESSION = re.compile(r"^### \d\..*?/(session-\d)\.zip(.*?)(?=^##)", re.M | re.S)
OF_SLIDES = ("slides.css", "states.js")  # beside reveal and katex


@cache
def pages():
    """Return the pages in the book's order: path -> prefix of numbers there."""
    contents, number = yaml.safe_load((ROOT / "_toc.yml").read_text()), 0
    found = {contents["root"]: ""}
    for part in contents["parts"]:
        for chapter in part["chapters"]:
            number += "numbered" in part
            sections = [place for place in chapter.get("sections", ()) if "file" in place]
            for place in (chapter, *sections):
                found[place["file"]] = f"{number}." if "numbered" in part else ""
    paths = {ROOT / (name + end): before for name, before in found.items()
             for end in (".ipynb", ".md")}  # fmt: skip
    return {path: before for path, before in paths.items() if path.exists()}


def chapters():
    return [path for path in pages() if path.suffix == ".ipynb"]


def cells_of(path):
    """Return the cells of a chapter; a page without code is one cell."""
    if path.suffix == ".md":
        return [{"cell_type": "markdown", "source": [path.read_text(encoding="utf-8")]}]
    return read(path)["cells"]


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def fences(text):
    """Yield the directives of a text: lines, name, argument, options and content."""
    for token in MarkdownIt().parse(text):
        head = re.match(r"\{([\w:-]+)\} *(.*)", token.info)
        if token.type == "fence" and head:
            options = re.match(r"(?::[\w-]+:.*\n)*", token.content)[0]
            named = dict(re.findall(r"^:([\w-]+): *(.*)$", options, re.M))
            yield token.map, head[1], head[2], named, token.content[len(options) :].strip("\n")


def labels(cell):
    """Return (kind, label) of the numbered elements of a cell, in its order."""
    if cell["cell_type"] == "code":
        name = cell["metadata"].get("mystnb", {}).get("figure", {}).get("name")
        return [("figure", name)] if name else []
    return in_text("".join(cell["source"]))


def in_text(text):
    found, hidden = [], text.split("\n")
    for (start, end), kind, _, options, content in fences(text):
        if kind in NUMBERED and (kind != "math" or "label" in options):
            found.append((start, kind, options.get("label", options.get("name"))))
        found += [(start, *inside) for inside in in_text(content)] if kind != "math" else []
        hidden[start:end] = [""] * (end - start)
    for line, text in enumerate(hidden):
        found += [(line, "math", label) for label in FORMULA.findall(text)]
    return [(kind, label) for _, kind, label in sorted(found, key=lambda place: place[0])]


@cache
def numbers():
    """Return label -> name and number of all numbered elements of the book."""
    found, counts = {}, Counter()
    for path, before in pages().items():
        for cell in cells_of(path):
            for kind, label in labels(cell):
                counts[before, kind] += 1
                found[label] = f"{NUMBERED[kind]} {before}{counts[before, kind]}".strip()
    return found


@cache
def targets():
    """Return label of a link's target -> its page."""
    return {label: path for path in pages() for cell in cells_of(path)
            for label in re.findall(r"^\(([\w-]+)\)=", "".join(cell["source"]), re.M)}  # fmt: skip


def address(page, link):
    """Return the address of a link; pages that are not notebooks are linked on the web."""
    name, label = link.groups()
    path = (page.parent / name).resolve() if name else targets().get(label, page)
    place = f"#{label}" if label else ""
    if path == page:
        return place
    return f"{HOME}{path.relative_to(ROOT).with_suffix('.html').as_posix()}{place}"


@cache
def sources():
    """Return key -> authors and year of every reference."""
    found = {}
    for key, entry in parse_file(BOOK / "references.bib").entries.items():
        people = entry.persons.get("author") or entry.persons["editor"]
        names = [" ".join(person.prelast_names + person.last_names) for person in people]
        found[key] = names, entry.fields["year"]
    return found


def cite(keys, in_sentence):
    """Return authors and year, as in the HTML."""
    texts = []
    for key in keys.split(","):
        names, year = sources()[key.strip()]
        who = f"{names[0]} *et al.*" if len(names) > 2 else " and ".join(names)
        texts.append(f"{who} ({year})" if in_sentence else f"{who}, {year}")
    return ", ".join(texts) if in_sentence else f"({'; '.join(texts)})"


def role(values, match):
    """Return the text of a role; values: name -> value glued by the chapter's cells."""
    kind, text = match.groups()
    shown, target = re.fullmatch(r"(.*?)(?: *<(.+)>)?", text, re.S).groups()
    if kind == "glue:text":
        name, _, form = text.partition(":")
        return format(ast.literal_eval(values[name]), form)
    if kind in ("cite", "cite:p", "cite:t"):
        return cite(text, kind == "cite:t")
    if kind == "eq":
        return f"({numbers()[text]})"
    if kind in ("prf:ref", "ref", "numref"):
        return shown if target else numbers()[text]
    if kind == "term":
        return shown
    if kind in ("py:class", "class", "func"):
        return f"`{text.rpartition('.')[2] if text[0] == '~' else text}`"
    raise ValueError(f"a role that {Path(__file__).name} does not know: {match[0]}")


def directive(kind, title, options, content):
    """Return a directive in plain Markdown, with its roles unchanged."""
    if kind == "include":  # a file beside the chapters
        text = (BOOK / title).read_text(encoding="utf-8").partition(options["start-after"])[2]
        content = text.partition(options["end-before"])[0].strip()
    body, label = plain(content), options.get("label")
    if kind == "math":
        aligned = r"\\" in content and r"\begin" not in content
        body = rf"\begin{{aligned}}{content}\end{{aligned}}" if aligned else content
        return f"$$\n{body}\n" + (rf"\tag{{{numbers()[label]}}}" + "\n" if label else "") + "$$"
    if kind in NUMBERED:
        head = f"**{numbers()[label]}**" + (f" ({title})" if title else "")
    elif kind in ("solution", "solution-start"):
        head = f"**Solution of {numbers()[title].lower()}**"
    elif kind in ("solution-end", "glue", "include"):
        return body
    else:
        head = "*Proof.*" if kind == "prf:proof" else f"**{title}**"
    if kind == "solution-start":
        return head
    if "dropdown" in options.get("class", ""):
        return f"<details>\n<summary>{head.strip('*')}</summary>\n\n{body}\n\n</details>"
    return f"<blockquote>\n\n{head}\n\n{body}\n\n</blockquote>"


def plain(text):
    """Replace directives, labels of formulas and targets of links."""
    lines, at, done = text.split("\n"), 0, []
    for (start, end), *rest in fences(text):
        done += [*lines[at:start], directive(*rest)]
        at = end
    text = "\n".join(done + lines[at:])
    text = FORMULA.sub(lambda found: rf"\tag{{{numbers()[found[1]]}}}" + "\n$$", text)
    return re.sub(r"^\([\w-]+\)=\n", "", text, flags=re.M)


def without_solutions(cells):
    """Return the cells of a chapter without its solutions."""
    kept, inside = [], False
    for cell in cells:
        text = "".join(cell["source"])
        if inside:
            _, end, text = text.partition("```{solution-end}\n```")
            inside = not end
        if not inside and cell["cell_type"] == "markdown":
            text, start, _ = SOLUTION.sub("", text).partition("```{solution-start}")
            inside = bool(start)
        if text:
            kept.append(cell | {"source": text})
    return kept


def outside(notebook):
    """Return the first cell of a copy."""
    code = "".join(line for cell in notebook["cells"] if cell["cell_type"] == "code"
                   for line in cell["source"])  # fmt: skip
    more = [name for name, pattern in NEEDS.items() if re.search(pattern, code)]
    text = INSTALL.format(
        packages=["mvref", "matplotlib", *more],
        requirements=" ".join([f"{HOME}_static/{WHEEL}", "matplotlib", *more]),
    )
    wanted = [UNLESS.format(wanted=what, file=file) for what, (shown, file) in WANTED.items()
              if re.search(shown, code)]  # fmt: skip
    text += "".join([FETCH, *wanted] if wanted else [])
    return {"cell_type": "code", "execution_count": None, "id": OUTSIDE, "outputs": [],
            "metadata": {"tags": [OUTSIDE], "jupyter": {"source_hidden": True}},
            "source": text.strip().splitlines(keepends=True)}  # fmt: skip


def copy_of(path, notebook, solutions=True):
    """Return the notebook of a chapter in plain Markdown."""
    values, cells = {}, []
    if all(OUTSIDE != cell["id"] for cell in notebook["cells"]):
        cells.append(outside(notebook))
    if not solutions:
        notebook = notebook | {"cells": without_solutions(notebook["cells"])}
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            glued = output.get("metadata", {}).get("scrapbook", {})
            for kind, text in output.get("data", {}).items():
                if glued and kind.endswith("text/plain"):
                    values[glued["name"]] = "".join(text)
    resolve = partial(ROLE.sub, partial(role, values))
    for cell in notebook["cells"]:
        cells.append(cell)
        if cell["cell_type"] == "markdown":
            text = resolve(plain("".join(cell["source"])))
            text = LINK.sub(partial(address, path), text)
            text = text.replace("../../slides/", f"{HOME}slides/")
            cell["source"] = text.splitlines(keepends=True)
            continue
        cell["source"] = GLUE.sub(NO_GLUE, "".join(cell["source"])).splitlines(keepends=True)
        folded = {FOLDED[tag]: True for tag in cell["metadata"].get("tags", []) if tag in FOLDED}
        cell["metadata"] |= {"jupyter": folded} if folded else {}
        figure = cell["metadata"].pop("mystnb", {}).get("figure")
        if figure:
            head = f"**{numbers()[figure['name']]}** " if "name" in figure else ""
            text = resolve(head + figure["caption"])
            cells.append({"cell_type": "markdown", "id": f"{cell['id']}-caption"[:64],
                          "metadata": {}, "source": text.splitlines(keepends=True)})  # fmt: skip
    return notebook | {"cells": cells}


def write_rows(folder):
    """Write the experiments, their rows and files of the errata pages; the study's predictions."""
    with ZipFile(folder / ROWS, "w", ZIP_LZMA) as rows, ZipFile(folder / STUDY, "w") as study:
        for file in sorted((BOOK / "experiments").rglob("*")):
            if file.suffix in (".py", ".toml", ".csv", ".npz", ".xz"):
                (study if file.suffix == ".xz" else rows).write(
                    file, Path("mvref_book") / file.relative_to(BOOK)
                )
        for file in (BOOK / "errata").glob("*.toml"):
            rows.write(file, file.name)


def write_exercises(html):
    """Write files for teachers: all chapters without solutions; chapters and slides by session."""
    home = {label: path for path in chapters() for cell in cells_of(path)
            for _, label in labels(cell)}  # fmt: skip
    static, course = html / "_static", (BOOK / "teach.md").read_text(encoding="utf-8")
    with TemporaryDirectory() as place:
        made = dict(zip(chapters(), write(Path(place), solutions=False), strict=True))
        write_rows(Path(place))
        packs = {"exercises": [*made.values(), Path(place) / ROWS]}
        for name, text in SESSION.findall(course):
            named = {home[label] for label in re.findall(r"\{ref\}`(ex-[\w-]+)", text)}
            packs[name] = [made[path] for path in made if path in named]
            for deck in re.findall(r"slides/\w+\.html", text):
                packs[name] += [html / deck, *(static / file for file in OF_SLIDES)]
                packs[name] += [*(static / "reveal").iterdir(), *(static / "katex").rglob("*.*")]
        for name, found in packs.items():
            with ZipFile(static / f"{name}.zip", "w", ZIP_DEFLATED) as packed:
                for file in found:
                    packed.write(file, file.relative_to(html if html in file.parents else place))


def write_downloads(html):
    """Write the downloads of the built book: the notebooks of its pages, and files they need."""
    static, sources = html / "_static", html / "_sources" / "book"
    for path in chapters():
        (sources / path.relative_to(BOOK)).unlink(missing_ok=True)
    made = write(sources)
    write_rows(static)
    write_exercises(html)
    command = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w"]
    subprocess.run([sys.executable, *command, static, ROOT], check=True)
    return made


def write_copy(path, target, solutions=True):
    """Write the copy of a chapter."""
    text = json.dumps(copy_of(path, read(path), solutions), indent=1, ensure_ascii=False)
    target.write_text(text + "\n", encoding="utf-8")
    return target


def write(folder, solutions=True):
    """Write the copies that a folder lacks; in the book's own, all of them."""
    paths = {path: folder / path.relative_to(BOOK) for path in chapters()}
    new = [path for path in paths if folder == BOOK or not paths[path].exists()]  # keep edits
    for path in new:
        paths[path].parent.mkdir(parents=True, exist_ok=True)
        write_copy(path, paths[path], solutions)
        for table in path.parent.glob("*.toml") if folder != BOOK else ():  # read by its code
            shutil.copy(table, paths[path].parent)
    return [paths[path] for path in new]


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve()
    if target.name == "html":
        made = write_downloads(target)
    else:
        made = write(target, solutions="--no-solutions" not in sys.argv)
    print(f"{len(made)} of {len(chapters())} chapters are new in {target}")

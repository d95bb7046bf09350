"""The copies of chapters in plain Markdown: nothing is left that only the HTML can show, and what
stands there instead is what the HTML says.

Their numbers are compared with the built pages in tests/project/test_html.py.
"""

import json
import re
from zipfile import ZipFile

import pytest

from book import plain
from book.execute import BOOK, chapters

CHAPTERS = [pytest.param(path, id=path.relative_to(BOOK.parent).as_posix()) for path in chapters()]
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]*\$", re.S)
LEFT_OVER = re.compile(
    r"\{[\w:-]+\}`|^[`:]{3,}\{|^:\w+:|^\([\w-]+\)=|\]\([^)]*\.md|\]\(#erratum", re.M
)
EXAMPLE = """Before {eq}`mvpo-c`.

````{prf:lemma} A name
:label: lem-mvpo-bound

As {prf:ref}`lem-mvpo-gap`, {cite:t}`wang2016`, and {term}`votes <vote>`:

```{math}
:label: mvpo-psi

a = b \\\\ c
```
````

$$
d
$$ (mvpo-dual)

{glue:text}`half:.2f`, {py:class}`mvref.MVPO`, [errata](../errata/mvpo.md), [P9](#erratum-p9).
"""
SHOWN = r"""Before (14.3).

<blockquote>

**Lemma 14.1** (A name)

As Lemma 15.1, Wang *et al.* (2016), and votes:

$$
\begin{aligned}a = b \\ c\end{aligned}
\tag{14.2}
$$

</blockquote>

$$
d
\tag{14.6}
$$

0.50, `mvref.MVPO`, [errata](HOMEbook/errata/mvpo.html), [P9](HOMEbook/errata/mvpo.html#erratum-p9).
""".replace("HOME", plain.HOME)


def test_the_book_and_its_copies_have_the_same_chapters():
    assert set(plain.chapters()) == set(chapters())


def test_what_stands_for_directives_roles_and_links():
    glued = {"data": {"application/papermill.record/text/plain": "0.5"},
             "metadata": {"scrapbook": {"name": "half"}}}  # fmt: skip
    figure = {"caption": "What one sees.", "name": "fig-mvpo-bound"}
    cells = [
        {"cell_type": "markdown", "id": "b", "source": EXAMPLE},
        {"cell_type": "code", "id": "a", "source": "1", "outputs": [glued],
         "metadata": {"tags": ["hide-input"], "mystnb": {"figure": figure}}},
    ]  # fmt: skip
    first, *rest = plain.copy_of(BOOK / "mvpo" / "page.ipynb", {"cells": cells})["cells"]
    text, code, caption = rest
    assert first["id"] == plain.OUTSIDE and "urlretrieve" not in "".join(first["source"])
    assert "".join(text["source"]) == SHOWN
    assert code["metadata"]["jupyter"] == {"source_hidden": True}
    assert "".join(caption["source"]) == "**Fig. 14.2** What one sees."


@pytest.mark.parametrize("path", CHAPTERS)
def test_nothing_is_left_that_only_the_html_can_show(path):
    copy = plain.copy_of(path, plain.read(path))
    before, (first, *after) = plain.cells_of(path), copy["cells"]
    code, copied = (
        [("".join(cell["source"]), cell["outputs"]) for cell in cells if "outputs" in cell]
        for cells in (before, after)
    )
    assert [(plain.GLUE.sub(plain.NO_GLUE, text), of) for text, of in code] == copied
    assert not any(plain.GLUE.search(text) for text, _ in copied)
    fetches = any("mvref.experiments" in text or ".toml" in text for text, _ in copied)
    fetched = "".join(first["source"])
    assert ("urlretrieve" in fetched) == fetches
    kept = any("study_reading" in text for text, _ in copied)
    assert (plain.STUDY in fetched) == kept
    assert len({cell["id"] for cell in copy["cells"]}) == len(copy["cells"])
    for cell in after:
        if cell["cell_type"] == "markdown":
            assert not LEFT_OVER.search(FORMULA.sub("", "".join(cell["source"])))
    assert plain.copy_of(path, json.loads(json.dumps(copy))) == copy, "a copy of a copy is the same"


def test_the_files_of_rows_have_what_copies_read(tmp_path):
    plain.write_rows(tmp_path)
    for name in (plain.ROWS, plain.STUDY):
        with ZipFile(tmp_path / name) as packed:
            packed.extractall(tmp_path)
    ledger = BOOK / "experiments" / "ledger"
    for file in (*ledger.glob("*.csv"), *ledger.glob("study/*.xz")):
        copied = tmp_path / "mvref_book" / "experiments" / "ledger" / file.relative_to(ledger)
        assert copied.read_bytes() == file.read_bytes()
    assert (tmp_path / "mvpo.toml").exists()
    assert (tmp_path / plain.ROWS).stat().st_size < 2e6


def test_a_role_that_is_not_known_is_named():
    with pytest.raises(ValueError, match="numref2"):
        plain.ROLE.sub(lambda found: plain.role({}, found), "{numref2}`a`")


def test_a_reader_keeps_what_was_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "chapters", lambda: [BOOK / "data.ipynb", BOOK / "api.ipynb"])
    (tmp_path / "data.ipynb").write_text("mine")
    assert plain.write(tmp_path) == [tmp_path / "api.ipynb"]
    assert (tmp_path / "data.ipynb").read_text() == "mine"
    assert json.loads((tmp_path / "api.ipynb").read_text())["nbformat"] == 4

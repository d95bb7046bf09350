"""Facts that stand in several files are the same in all of them."""

import json
import os
import re
import stat
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import mvref

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
ARCHIVE = json.loads((ROOT / ".zenodo.json").read_text())
PAGES = ("README.md", "CONTRIBUTING.md")
ON_MAIN = PYPROJECT["project"]["urls"]["Repository"] + "/blob/main/"


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_one_version():
    version = PYPROJECT["project"]["version"]
    newest = re.search(r"^## (\S+)", read("CHANGELOG.md"), re.MULTILINE)[1]
    config = yaml.safe_load(read("_config.yml"))["sphinx"]["config"]
    told = {CITATION["version"], ARCHIVE["version"], config["release"], mvref.__version__, newest}
    assert told == {version}


def test_one_licence_and_one_author():
    project = PYPROJECT["project"]
    [author] = project["authors"]
    assert CITATION["license"] == "BSD-3-Clause"
    assert project["license"] == "BSD-3-Clause AND CC-BY-4.0"
    assert "(CC BY 4.0)" in read("mvref/datasets/data/NOTICE.txt")
    assert read("LICENSE").startswith("BSD 3-Clause License")
    assert author["name"] in read("LICENSE")
    assert CITATION["authors"] == ARCHIVE["creators"] == [author]
    assert yaml.safe_load(read("_config.yml"))["author"] == author["name"]


def test_one_repository_address():
    address = PYPROJECT["project"]["urls"]["Repository"]
    assert CITATION["repository-code"] == address
    assert yaml.safe_load(read("_config.yml"))["repository"]["url"] == address
    assert PYPROJECT["project"]["urls"]["Issues"] == f"{address}/issues"
    assert PYPROJECT["project"]["urls"]["Changelog"] == f"{ON_MAIN}CHANGELOG.md"
    slug = address.removeprefix("https://github.com/")
    files = [*ROOT.glob("*.md"), *(ROOT / "book").rglob("*.md"), *(ROOT / "mvref").rglob("*.py")]
    named = {
        found
        for path in files
        for found in re.findall(r"(?:github\.com|/gh)/([\w.-]+/mvref)\b", path.read_text("utf-8"))
    }
    assert named == {slug}


def test_classifiers_tell_the_pythons_that_the_workflow_tests():
    named = re.findall(
        r":: (3\.\d+)$", "\n".join(PYPROJECT["project"]["classifiers"]), re.MULTILINE
    )
    jobs = yaml.safe_load(read(".github/workflows/test.yml"))["jobs"]
    assert named == jobs["versions"]["strategy"]["matrix"]["python"]
    assert PYPROJECT["project"]["requires-python"] == f">={named[0]}"


def test_citation_has_what_the_format_requires_and_the_archive_says_the_same():
    assert CITATION["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(CITATION)
    for name in ("title", "license", "keywords"):
        assert ARCHIVE[name] == CITATION[name]
    linked = {related["identifier"] for related in ARCHIVE["related_identifiers"]}
    urls = PYPROJECT["project"]["urls"]
    assert linked == {urls["Repository"], urls["Homepage"]}
    assert yaml.safe_load(read("_config.yml"))["html"]["baseurl"] == urls["Homepage"]


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_the_pages_exist(page):
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))
    named = set(re.findall(r"(?:`|^    )make ([a-z]+)", read(page), re.MULTILINE))
    assert named
    assert named <= targets


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md"])
def test_files_that_the_pages_link_to_exist(page):
    links = re.findall(r"\]\(([^)#]+)\)", read(page))
    links = [link.replace("/raw/", "/blob/").removeprefix(ON_MAIN) for link in links]
    inside = [link for link in links if "://" not in link]
    assert [link for link in inside if not (ROOT / link).exists()] == []


def test_links_of_the_readme_also_lead_somewhere_from_a_package_index():
    links = re.findall(r"\]\(([^)]*)\)", read("README.md"))
    assert len(links) > 20
    assert [link for link in links if not link.startswith("https://")] == []


def test_help_lists_every_command():
    text = read("Makefile")
    [phony] = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    listed = re.findall(r"^## make (\w+)", text, re.MULTILINE)
    assert sorted(phony.split()) == sorted([*listed, "help"])


def test_table_of_contents_lists_every_page_of_the_book():
    listed = set(re.findall(r"(?:file|root): (\S+)", read("_toc.yml")))
    pages = [*(ROOT / "book").rglob("*.ipynb"), *(ROOT / "book").rglob("*.md")]
    found = {
        path.relative_to(ROOT).with_suffix("").as_posix()
        for path in pages
        if not {"_static", ".ipynb_checkpoints"} & set(path.parts)
    }
    assert listed == found


@pytest.mark.skipif(os.name == "nt", reason="a shell script stands in for make")
@pytest.mark.parametrize("shared", [False, True])
def test_ci_runs_the_test_command_of_the_readme_without_data_and_then_what_needs_them(
    tmp_path, shared
):
    assert "\n    make test\n" in read("README.md")
    repository, fake = tmp_path / "main", tmp_path / "bin"
    folders = [tmp_path / "shared" / name for name in ("data", "papers")]
    for folder in (repository / ".ci", fake, *(folders if shared else ())):
        folder.mkdir(parents=True)
    script = repository / ".ci" / "run"
    script.write_text(read(".ci/run"))
    told = '"make $*|$(pwd -P)|$MVREF_DATA|$MVREF_PAPERS|$(ls "$MVREF_CACHE")|$CI"'
    (fake / "make").write_text(f"#!/bin/sh\necho {told}\n")
    for path in (script, fake / "make"):
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    env = {key: value for key, value in os.environ.items() if not key.startswith("MVREF_")}
    env |= {"PATH": f"{fake}{os.pathsep}{env['PATH']}"} | ({} if shared else {"MVREF_DATA": "a"})
    done = subprocess.run([script], env=env, cwd=tmp_path, capture_output=True, text=True)
    data, papers = (folder.resolve() for folder in folders)
    expected = f"make test|{repository.resolve()}||||1\n"
    expected += f"make data|{repository.resolve()}|{data}|{papers}||1\n" if shared else ""
    assert (done.stdout, done.returncode) == (expected, 0)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)

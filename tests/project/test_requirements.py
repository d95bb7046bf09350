"""The lists of requirements agree: pyproject.toml, the lock, environment.yml, the workflows."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.txt", "requirements-liblinear.txt")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
GROUPS = PYPROJECT["dependency-groups"]
DIRECT = [*PROJECT["dependencies"]]
for lines in (*EXTRAS.values(), *GROUPS.values()):
    DIRECT += [line for line in lines if isinstance(line, str)]  # others include a group


def pins(lock):
    """The requirements of one lock file, each on a line that ends before its hashes."""
    lines = (ROOT / lock).read_text().splitlines()
    return [Requirement(line.removesuffix("\\")) for line in lines if re.match(r"[^\s#]", line)]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_line_of_the_lock_is_an_exact_pin(lock):
    assert pins(lock)
    for pin in pins(lock):
        assert [specifier.operator for specifier in pin.specifier] == ["=="], str(pin)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_hashes(lock):
    text = (ROOT / lock).read_text()
    hashed = re.findall(r"^\S+==.* \\\n    --hash=sha256:[0-9a-f]{64}\b", text, re.MULTILINE)
    assert len(hashed) == len(pins(lock))


@pytest.mark.parametrize("line", sorted(set(DIRECT)))
def test_direct_requirement_is_pinned_to_a_version_that_satisfies_it(line):
    wanted = Requirement(line)
    name = canonicalize_name(wanted.name)
    found = [pin for lock in LOCKS for pin in pins(lock) if canonicalize_name(pin.name) == name]
    assert len(found) == 1, f"{name} is pinned {len(found)} times"
    [version] = [specifier.version for specifier in found[0].specifier]
    assert wanted.specifier.contains(version)
    assert found[0].marker is None


def test_only_the_package_that_has_to_be_compiled_is_kept_apart():
    compiled = [Requirement(line).name for line in EXTRAS["liblinear"]]
    assert [pin.name for pin in pins("requirements-liblinear.txt")] == compiled


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_says_how_to_make_it_and_names_no_place(lock):
    text = (ROOT / lock).read_text()
    assert "make lock" in text.split("==")[0]
    assert not re.search(r"://|/\w+/|--index|--find-links", text)


def test_binder_installs_the_locks_the_project_and_a_python_that_fits():
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    [python] = [line for line in dependencies if str(line).startswith("python=")]
    [pip] = [line["pip"] for line in dependencies if isinstance(line, dict)]
    # pip refuses what has no hash, as the project, beside what has one; and needs no compiler.
    assert pip == ["-r requirements.txt"]
    after = (ROOT / "postBuild").read_text()
    assert "-e ." in after and "requirements-liblinear.txt ||" in after
    # Nothing else may carry a version of its own.
    others = [line for line in dependencies if line is not python and not isinstance(line, dict)]
    assert others == ["pip"]
    assert re.fullmatch(r"python=\d+\.\d+\.\d+", python)
    assert SpecifierSet(PROJECT["requires-python"]).contains(python.removeprefix("python="))


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_what_executes_our_requirements_may_only_read(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert not (job.get("permissions") and any("run" in step for step in job["steps"]))
        for step in job["steps"]:
            assert "run" in step or re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step["uses"])
            if "checkout" in step.get("uses", ""):
                assert step["with"] == {"persist-credentials": False}


def test_workflows_use_the_python_of_binder():
    jobs = [job for path in WORKFLOWS for job in yaml.safe_load(path.read_text())["jobs"].values()]
    options = [step.get("with", {}) for job in jobs for step in job["steps"]]
    found = {each["python-version"] for each in options if "python-version" in each}
    [version] = found - {"${{ matrix.python }}"}
    assert f"python={version}." in (ROOT / "environment.yml").read_text()

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
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
DIRECT = [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]


def pins(lock):
    """The requirements of one lock file."""
    lines = (ROOT / lock).read_text().splitlines()
    return [
        Requirement(line) for line in lines if line.strip() and not line.lstrip().startswith("#")
    ]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_line_of_the_lock_is_an_exact_pin(lock):
    assert pins(lock)
    for pin in pins(lock):
        assert [specifier.operator for specifier in pin.specifier] == ["=="], str(pin)


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
    assert pip == [*(f"-r {lock}" for lock in LOCKS), "-e ."]
    # Nothing else may carry a version of its own.
    others = [line for line in dependencies if line is not python and not isinstance(line, dict)]
    assert others == ["pip"]
    assert re.fullmatch(r"python=\d+\.\d+\.\d+", python)
    assert SpecifierSet(PROJECT["requires-python"]).contains(python.removeprefix("python="))


@pytest.mark.parametrize("workflow", ["test.yml", "pages.yml"])
def test_workflows_use_the_python_of_binder(workflow):
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / workflow).read_text())["jobs"]
    options = [step.get("with", {}) for job in jobs.values() for step in job["steps"]]
    [version] = [each["python-version"] for each in options if "python-version" in each]
    assert f"python={version}." in (ROOT / "environment.yml").read_text()

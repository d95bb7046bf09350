"""The examples of README and cheat sheet run, without a warning, and find what they should."""

import pytest

from tests.project.examples import PAGES, examples, run

EXAMPLES = examples()


def test_every_page_has_one():
    assert {name.rsplit(" ", 1)[0] for name in EXAMPLES} == set(PAGES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs(name):
    done = run(EXAMPLES[name])
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[0]) > 0.95  # the accuracy, which each of them prints first

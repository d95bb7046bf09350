"""Every benchmark runs on one thread; what they record is one table at the end of the run."""

import math

import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

COLUMNS = ["work", "ours", "peer", "theirs", "limit", "our_score", "their_score"]
ROWS = pytest.StashKey()


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.fixture
def record(request):
    """Add a row to the table: seconds of ours, of the best peer, and of what no code can avoid.

    work: a few words with the sizes; limit: GEMM + exp + solver, where that means something;
    scores: test accuracies (or errors, if `work` says so) beside the seconds.
    """

    def add(
        work, ours, peer="", theirs=math.nan, limit=math.nan, our_score=math.nan,
        their_score=math.nan,
    ):  # fmt: skip
        row = (work, ours, peer, theirs, limit, our_score, their_score)
        request.config.stash.setdefault(ROWS, []).append(row)

    return add


def pytest_addoption(parser):
    parser.addoption("--table", help="write the table of the recorded rows to this CSV file")


def pytest_terminal_summary(terminalreporter, config):
    table = pd.DataFrame(config.stash.get(ROWS, []), columns=COLUMNS)
    if len(table) == 0:
        return
    terminalreporter.section("seconds: ours, best peer, limit")
    shown = table.assign(
        **{
            "theirs / ours": table["theirs"] / table["ours"],
            "ours / limit": table["ours"] / table["limit"],
        }
    )
    shown = shown.sort_values("theirs / ours", na_position="last")
    terminalreporter.write_line(
        shown.to_string(index=False, na_rep="", float_format=lambda value: f"{value:.3g}")
    )
    if path := config.getoption("--table"):
        table.to_csv(path, index=False, float_format="%.4g")

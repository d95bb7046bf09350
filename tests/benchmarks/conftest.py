"""Every speed test runs on one thread; ``--table`` stores what `test_waiting` tells."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def pytest_addoption(parser):
    parser.addoption("--table", help="write the table of test_waiting to this CSV file")

"""Memory of MVPO and its rivals on wide sparse views: no square of d, no dense table."""

import numpy as np
import pytest
from scipy import sparse

from mvref import MVPO, MultiView
from mvref.rivals import CAPO, SMS, FSMulti, SVMPerf
from tests.costs import peak_bytes
from tests.literal import random_pattern

N, D, FLOAT = 100, 4000, 8  # a matrix (D, D) would take 128 MB, and a dense table 3.2 MB


def wide_views(missing):
    """Two sparse views, 20 ones per row on average, some columns commoner in the first class."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % 4 == 0
    common = 0.05 * (rng.random(D) < 0.1)
    table = (rng.random((N, D)) < 0.005 + y[:, None] * common).astype(float)
    views = [sparse.csr_matrix(part) for part in np.split(table, 2, axis=1)]
    observed = random_pattern(0, N, 2) if missing else None
    return MultiView(views, observed=observed), y


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    ("model", "limit"),
    [
        (MVPO(), N * D / 2),
        (MVPO("auroc"), N * D / 2),
        (MVPO(C1=0.0), N * D / 2),
        (SVMPerf(), N * D / 2),
        (CAPO(random_state=0), N * D / 2),
        (SMS(), N * D),  # the pairs of vectors of L-BFGS
        (FSMulti(C2=1.0, tol=0.1), N * D),  # one dense row per label cut
    ],
    ids=repr,
)
def test_wide_sparse_views_stay_sparse(model, limit, missing):
    X, y = wide_views(missing)
    model.fit(X, y)  # what is imported at the first call does not count
    assert peak_bytes(lambda: model.fit(X, y)) < limit * FLOAT
    assert peak_bytes(lambda: model.decision_function(X)) < N * D / 2 * FLOAT


def test_dense_tables_and_squares_of_d_would_be_seen():
    X, y = wide_views(missing=False)
    assert peak_bytes(lambda: [view.toarray() for view in X.views]) >= N * D * FLOAT
    narrow = [view[:, :300] for view in X.views]
    assert peak_bytes(lambda: MVPO(solver="primal").fit(narrow, y)) > 600**2 * FLOAT

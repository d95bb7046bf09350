"""CiteSeer: scientific papers by their words, by who cites them, and by whom they cite."""

import numpy as np
from scipy import sparse

from ..core.views import MultiView
from ._base import MultiViewDataset
from ._lookup import fetch, open_content
from ._sources import checksums, describe

CONTENT, CITES = "citeseer.content", "citeseer.cites"


def fetch_citeseer():
    """Load 3312 papers of six fields in three views: words, inbound and outbound links.

    Nothing is downloaded: put ``citeseer.content`` and ``citeseer.cites`` (or their ``.gz``) into
    the folder ``$MVREF_DATA/citeseer`` (or into the cache). Both are checked against their sha256.

    Returns
    -------
    dataset : MultiViewDataset
        Three views, all of them CSR matrices of 0 and 1:

        - ``text`` (3703): which words the paper has;
        - ``inbound`` (3312): column j is 1 if paper j cites this one;
        - ``outbound`` (3312): column j is 1 if this paper cites paper j.

        `y` in 0..5: AI, Agents, DB, HCI, IR, ML. No official split. ``meta["paper"]`` has the
        papers' ids, which are also the names of the columns of both link views.

    Raises
    ------
    DatasetUnavailable
        If a file is missing; the message says where to get it and where to put it.
    DatasetCorrupted
        If a file is not the original one.

    Notes
    -----
    `outbound` is the transpose of `inbound`. A paper without links is a row of zeros, not a
    missing view. The columns of the link views are papers of all parts of a split: a link from
    a training paper to a test paper is seen in training, its label is not.

    Examples
    --------
    >>> from mvref.datasets import available, fetch_citeseer
    >>> if "citeseer" in available():
    ...     assert fetch_citeseer().X.widths == [3703, 3312, 3312]
    """
    papers, text, fields = read_content(fetch("citeseer", CONTENT))
    inbound = read_links(fetch("citeseer", CITES), papers)
    X = MultiView({"text": text, "inbound": inbound, "outbound": inbound.T.tocsr()})
    names, y = np.unique(fields, return_inverse=True)
    text = describe(
        "citeseer",
        X,
        checksums("citeseer", [CONTENT, CITES]),
        links=inbound.nnz,
        to_itself=int(inbound.diagonal().sum()),
        no_inbound=int((inbound.getnnz(axis=1) == 0).sum()),
        no_outbound=int((inbound.getnnz(axis=0) == 0).sum()),
    )
    names = [str(name) for name in names]
    return MultiViewDataset("citeseer", X, y, names, text, meta={"paper": papers})


def read_content(path):
    """Read ``citeseer.content``: on each line an id, a 0 or 1 for each word, and the field."""
    papers, rows, fields = [], [], []
    with open_content(path) as stream:
        for line in stream:
            paper, rest = line.split(b"\t", 1)
            bits, field = rest.rsplit(b"\t", 1)
            papers.append(paper.decode())
            # One byte for each word, a tab between any two.
            rows.append(np.frombuffer(bits, np.uint8)[::2] == ord("1"))
            fields.append(field.strip().decode())
    text = sparse.csr_matrix(np.array(rows), dtype=np.float64)
    return np.array(papers), text, np.array(fields)


def read_links(path, papers):
    """Read ``citeseer.cites``: on each line the id of a cited paper, then of the one that cites.

    papers (n_papers,): links from or to any other id are left out -> inbound (n_papers, n_papers).
    """
    row_of = {paper: row for row, paper in enumerate(papers)}
    with open_content(path) as stream:
        pairs = [line.decode().split() for line in stream]
    known = [(row_of[a], row_of[b]) for a, b in pairs if a in row_of and b in row_of]
    cited, citing = np.array(known).T
    n = len(papers)
    return sparse.csr_matrix((np.ones(len(known)), (cited, citing)), shape=(n, n))

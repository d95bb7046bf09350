"""CiteSeer: scientific papers by their words, by who cites them, and by whom they cite."""

import numpy as np
from scipy import sparse

from ..core.views import MultiView
from ._base import MultiViewDataset, describe
from ._lookup import fetch, locate, open_content
from ._registry import LINQS_CITESEER, checksums

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
    return _dataset(X, fields, papers)


def on_this_machine():
    """Return the folder that has both files, or None; nothing is opened."""
    paths = [locate("citeseer", file) for file in (CONTENT, CITES)]
    return paths[0].parent if all(paths) else None


def read_content(path):
    """Read ``citeseer.content``: on each line an id, a 0 or 1 for each word, and the field.

    path: Separated by tabs, possibly compressed (.gz); returns papers (n_papers,), text (n_papers,
    n_words), fields (n_papers,).
    """
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

    papers (n_papers,): Links from or to any other id are left out; returns inbound (n_papers,
    n_papers).
    """
    row_of = {paper: row for row, paper in enumerate(papers)}
    with open_content(path) as stream:
        pairs = [line.decode().split() for line in stream]
    known = [(row_of[a], row_of[b]) for a, b in pairs if a in row_of and b in row_of]
    cited, citing = np.array(known).T
    n = len(papers)
    return sparse.csr_matrix((np.ones(len(known)), (cited, citing)), shape=(n, n))


def _dataset(X, fields, papers):
    names, y = np.unique(fields, return_inverse=True)
    inbound, outbound = X.views[1:]
    no_inbound, no_outbound = (int((np.diff(A.indptr) == 0).sum()) for A in (inbound, outbound))
    text = describe(
        "CiteSeer: scientific papers by words and by links",
        X,
        source=f"LINQS, University of California, Santa Cruz, {LINQS_CITESEER}",
        licence="None stated in the archive. mvref ships no copy.",
        citation=(
            "P. Sen, G. Namata, M. Bilgic, L. Getoor, B. Gallagher, T. Eliassi-Rad, Collective "
            "classification in network data, AI Magazine 29(3), 93-106, 2008.\n"
            "As three views: J. J.-Y. Wang, I. W.-H. Tsang, X. Gao, Optimizing multivariate "
            "performance measures from multi-view data, AAAI 2016."
        ),
        notes=(
            "text: 0 or 1 for each word; words in fewer than 10 papers were removed by the "
            "authors. inbound: which papers cite this one. outbound: which papers this one cites; "
            "the transpose of inbound.\n"
            f"{inbound.nnz} links among the papers of the collection. The file lists 4732; 17 of "
            "them name a paper that the collection does not have, and are left out. "
            f"{int(inbound.diagonal().sum())} papers cite themselves according to the file, and "
            f"these links are kept. {no_inbound} papers have no inbound link and {no_outbound} no "
            "outbound one: rows of zeros, not missing views.\n"
            "Another form of CiteSeer is in use elsewhere, of 3327 papers in another order (called "
            "Planetoid); this is not that one."
        ),
        checksums=checksums("citeseer", [CONTENT, CITES]),
    )
    return MultiViewDataset(
        "citeseer", X, y, [str(name) for name in names], text, meta={"paper": papers}
    )

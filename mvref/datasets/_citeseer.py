"""CiteSeer: scientific papers described by words, inbound citations and outbound citations."""

import re

import numpy as np
from scipy import sparse

from ..core.input import MultiView
from ._base import MultiViewDataset
from ._lookup import fetch, open_content
from ._sources import checksums, describe

CONTENT, CITES = "citeseer.content", "citeseer.cites"


def fetch_citeseer() -> MultiViewDataset:
    """Load CiteSeer: 3312 papers of six fields in three views (words, inbound and outbound links).

    Nothing is downloaded: put ``citeseer.content`` and ``citeseer.cites`` (or their ``.gz``) into
    the folder ``$MVREF_DATA/citeseer`` (or into the cache).

    Returns
    -------
    dataset : MultiViewDataset
        Three views, CSR matrices of 0 and 1: ``text`` (3703), which words the paper has;
        ``inbound`` (3312), column j is 1 if paper j cites this one; ``outbound`` (3312), column j
        is 1 if this paper cites paper j. `y` in 0..5: AI, Agents, DB, HCI, IR, ML. No official
        split. ``meta["paper"]`` has the papers' ids, also those of the columns of both link views.

    Raises
    ------
    DatasetUnavailable, DatasetCorrupted
        If a file is missing (the message explains how to obtain it), or is not the original one.

    Notes
    -----
    A paper without links is a row of zeros, not a missing view. The columns of the link views are
    papers of the training and the test set: a link from a training paper to a test paper is visible
    in training, the label of the test paper is not.

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
    counts = {
        "links": inbound.nnz,
        "to_itself": int(inbound.diagonal().sum()),
        "no_inbound": int((inbound.getnnz(axis=1) == 0).sum()),
        "no_outbound": int((inbound.getnnz(axis=0) == 0).sum()),
    }
    text = describe("citeseer", X, checksums("citeseer", [CONTENT, CITES]), **counts)
    return MultiViewDataset("citeseer", X, y, names.tolist(), text, meta={"paper": papers})


def read_content(path):
    """Read ``citeseer.content``: each line has an id, a 0 or 1 per word, and the field."""
    with open_content(path) as stream:
        lines = [re.fullmatch(rb"(\S+)\t(.+)\t(.+?)\s*", line).groups() for line in stream]
    papers, bits, fields = (np.array(column) for column in zip(*lines, strict=True))
    # One byte per word, separated by tabs.
    words = bits.view(np.uint8).reshape(len(bits), -1)[:, ::2] == ord("1")
    return papers.astype(str), sparse.csr_matrix(words, dtype=np.float64), fields.astype(str)


def read_links(path, papers):
    """Read ``citeseer.cites``: each line has the ids of the cited and the citing paper.

    papers (n_papers,): links from or to any other id are left out -> inbound (n_papers, n_papers).
    """
    import pandas as pd  # here, because importing mvref must not import it

    with open_content(path) as stream:
        pairs = np.array([line.decode().split() for line in stream])
    cited, citing = (pd.Index(papers).get_indexer(ids) for ids in pairs.T)
    known = (cited >= 0) & (citing >= 0)  # -1: not among the papers
    links = np.ones(known.sum()), (cited[known], citing[known])
    return sparse.csr_matrix(links, shape=(len(papers), len(papers)))

"""CiteSeer: the published numbers, and the direction of the links."""

import numpy as np

from mvref.datasets import _citeseer as citeseer_module
from mvref.datasets._lookup import locate, open_content


def test_numbers_of_words(citeseer):
    text, inbound, outbound = citeseer.X.views
    assert text.nnz == 105_165 and set(text.data) == {1.0}
    assert text.getnnz(axis=0).min() >= 1 and text.getnnz(axis=1).min() >= 1
    assert (np.diff(inbound.indptr) + np.diff(outbound.indptr) > 0).all()
    assert all(view.format == "csr" and view.has_canonical_format for view in citeseer.X.views)


def test_links_are_those_of_the_file(citeseer):
    """Every line of the file, read one by one, is in both link views; nothing else is."""
    with open_content(locate("citeseer", "citeseer.cites")) as stream:
        lines = [tuple(line.decode().split()) for line in stream]
    papers = citeseer.meta["paper"]
    known = set(papers)
    listed = {pair for pair in lines if known.issuperset(pair)}
    assert len(lines) == 4732 and len(known) == 3312 and len(listed) == 4715
    _, inbound, outbound = citeseer.X.views
    for links in (inbound, outbound.T):
        cited, citing = links.nonzero()
        assert set(zip(papers[cited], papers[citing], strict=True)) == listed
        assert set(links.data) == {1.0}


def test_ids_are_text_not_numbers(tmp_path, put):
    """ "007" and "7" are two papers."""
    content = put(tmp_path / "content", b"007\t1\tAI\n7\t0\tAI\n")
    papers, _, _ = citeseer_module.read_content(content)
    inbound = citeseer_module.read_links(put(tmp_path / "cites", b"7\t007\n"), papers)
    np.testing.assert_array_equal(inbound.toarray(), [[0, 0], [1, 0]])

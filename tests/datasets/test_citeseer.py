"""CiteSeer: the published numbers, and the direction of the links."""

import numpy as np

from mvref.datasets import _citeseer as citeseer_module
from mvref.datasets._lookup import locate, open_content


def test_numbers_of_words_and_links(citeseer):
    text = citeseer.X.views[0]
    assert text.nnz == 105_165 and set(text.data) == {1.0}
    assert text.getnnz(axis=0).min() >= 1 and text.getnnz(axis=1).min() >= 1
    inbound, outbound = (np.diff(view.indptr) for view in citeseer.X.views[1:])
    assert (inbound == 0).sum() == 1361 and (outbound == 0).sum() == 999
    assert (inbound + outbound > 0).all()
    assert citeseer.X.views[1].diagonal().sum() == 124
    assert all(view.format == "csr" and view.has_canonical_format for view in citeseer.X.views)


def test_links_are_those_of_the_file(citeseer):
    """Every line of the file, read one by one, is in both link views; nothing else is."""
    with open_content(locate("citeseer", "citeseer.cites")) as stream:
        lines = [line.decode().split() for line in stream]
    assert len(lines) == 4732
    papers = citeseer.meta["paper"]
    assert len(np.unique(papers)) == 3312 and citeseer.splits == []
    inbound, outbound = citeseer.X.views[1:]
    known = set(papers)
    listed = {(a, b) for a, b in lines if a in known and b in known}
    assert len(listed) == 4715
    cited, citing = inbound.nonzero()
    assert set(zip(papers[cited], papers[citing], strict=True)) == listed
    citing, cited = outbound.nonzero()
    assert set(zip(papers[cited], papers[citing], strict=True)) == listed
    assert set(inbound.data) == set(outbound.data) == {1.0}


def test_ids_are_text_not_numbers(tmp_path, put):
    """ "007" and "7" are two papers."""
    content = put(tmp_path / "content", b"007\t1\tAI\n7\t0\tAI\n")
    papers, _, _ = citeseer_module.read_content(content)
    inbound = citeseer_module.read_links(put(tmp_path / "cites", b"7\t007\n"), papers)
    np.testing.assert_array_equal(inbound.toarray(), [[0, 0], [1, 0]])

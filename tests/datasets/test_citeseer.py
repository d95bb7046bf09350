"""CiteSeer: the published numbers, and the direction of the links."""

import numpy as np

from mvref.datasets import _citeseer as citeseer_module


def test_ids_are_text_not_numbers(tmp_path, put):
    """ "007" and "7" are two papers."""
    content = put(tmp_path / "content", b"007\t1\tAI\n7\t0\tAI\n")
    papers, _, _ = citeseer_module.read_content(content)
    inbound = citeseer_module.read_links(put(tmp_path / "cites", b"7\t007\n"), papers)
    np.testing.assert_array_equal(inbound.toarray(), [[0, 0], [1, 0]])

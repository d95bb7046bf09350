"""Seeds that depend on words, not on the order of the draws."""

import hashlib


def derive_seed(*words):
    """Return a seed in [0, 2**32) that depends on the words only.

    >>> derive_seed("fig2", "mfeat", 0) == derive_seed("fig2", "mfeat", 0)
    True
    """
    digest = hashlib.sha256("|".join(str(word) for word in words).encode()).digest()
    return int.from_bytes(digest[:4], "big")

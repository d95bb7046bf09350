"""What compare_methods sees before it computes anything, and says of scores that are odd."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mvref import MultiView
from mvref.compare.audit import columns_that_tell, gaps_that_tell, look_first, look_last

from .test_plain import question_of

RNG = np.random.default_rng(0)
Y = np.arange(200) % 2
A, B = RNG.normal(size=(2, 200, 4))
CONSTANT = np.ones((200, 2))
CONSTANT[0] = 2.0
IDS = [f"p{i // 2}" for i in range(200)]
REPEATED = [pd.DataFrame(view, IDS) for view in (A, B)]
ODD = [
    ({"X": MultiView([A[:60], B[:60]]), "y": Y[:60]}, "only 60 samples: between methods that"),
    ({"groups": np.arange(200) // 4}, "only 50 groups"),
    ({"X": MultiView([A, CONSTANT])}, "View 'view_1' has the same values for nearly"),
    (
        {"X": MultiView([A, sparse.csr_matrix((200, 3))])},
        "View 'view_1' has the same values for nearly",
    ),
    ({"X": MultiView({"a": A, "b": A[:, ::-1]})}, "The views 'a' and 'b' have the same features"),
    ({"X": MultiView(REPEATED)}, "100 sample ids are repeated. If these samples belong"),
    ({"groups": np.where(Y == 1, 0, 1 + np.arange(200))}, "Class 1 occurs in only 1 group(s)"),
    ({"y": np.arange(200) % 25, "K": 25}, "25 different integers, which are treated as classes"),
]


@pytest.mark.parametrize(("given", "words"), ODD, ids=range(len(ODD)))
def test_what_is_odd_is_said(given, words):
    plain = {"X": MultiView([A, B]), "y": Y, "K": 2}
    assert look_first(question_of(**plain)) == []
    assert any(words in note for note in look_first(question_of(**plain | given)))


@pytest.mark.parametrize("K", [2, None])
def test_gaps_that_tell_are_found_and_others_are_not(K):
    observed = np.ones((200, 2), bool)
    observed[:, 1] = RNG.random(200) < 0.2 + 0.6 * Y
    y = Y if K else Y + 0.3 * RNG.normal(size=200)
    X = MultiView([A, B])
    found = gaps_that_tell(question_of(X.with_observed(observed), y, K))
    assert list(found) == ["view_1"] and found["view_1"] < 1e-4
    observed = np.ones((200, 2), bool)
    told = 0
    for _ in range(200):
        observed[:, 1] = RNG.random(200) < 0.5
        told += bool(gaps_that_tell(question_of(X.with_observed(observed), y, K)))
    assert told <= 8  # of 200, at a level of one in a hundred


def test_a_column_that_tells_the_class_is_named():
    table = A.copy()
    table[:, 2] = Y + 0.1 * RNG.random(200)
    X = MultiView({"labs": pd.DataFrame(table, columns=list("abcd")), "scan": sparse.csr_matrix(B)})
    assert list(columns_that_tell(question_of(X, Y, 2))) == ["labs__c"]
    scores = pd.Series({"nothing": 0.5, "gaps only": 0.5, "logistic": 1.0})
    ahead = {"nothing": 0.4, "gaps only": 0.4}
    (told,) = look_last(question_of(X, Y, 2), scores, ahead)
    assert "single features determine the class: ['labs__c']. Check for label leakage." in told
    (told,) = look_last(question_of(X, Y, 2), scores, ahead | {"nothing": -0.01})
    assert told.startswith("No method is clearly better than a constant prediction (score 0.5")
    (told,) = look_last(question_of(X, Y, 2), scores, ahead | {"gaps only": -0.01})
    assert told.startswith("No method is clearly better than a model that only knows which views")
    assert look_last(question_of(X, Y, 2), scores - 0.1, ahead) == []

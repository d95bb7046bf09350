"""What samples add to a score: the mean is scikit-learn's, the variance that of its jackknife."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import metrics

from mvref.compare.influence import by_sample, reach

OF_LABELS = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "f1_macro": lambda y, said: metrics.f1_score(y, said, average="macro"),
}
OF_SCORES = {
    "roc_auc_ovr": lambda y, p: metrics.roc_auc_score(y, p, multi_class="ovr"),
    "roc_auc_ovr_weighted": lambda y, p: metrics.roc_auc_score(
        y, p, multi_class="ovr", average="weighted"
    ),
    "neg_log_loss": lambda y, p: -metrics.log_loss(y, p),
}
ERRORS = {
    "r2": metrics.r2_score,
    "neg_mean_absolute_error": lambda y, said: -metrics.mean_absolute_error(y, said),
    "neg_mean_squared_error": lambda y, said: -metrics.mean_squared_error(y, said),
    "neg_root_mean_squared_error": lambda y, said: -metrics.root_mean_squared_error(y, said),
}
SHARES = {"two": (0.7, 0.3), "rare": (0.5, 0.43, 0.07)}


def answers(shares, n=120, seed=0):
    """Labels, and probabilities that tell them, with a few ties."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(
        np.repeat(np.arange(len(shares)), np.round(n * np.array(shares)).astype(int))
    )
    scores = np.round(rng.normal(size=(n, len(shares))) + 1.2 * np.eye(len(shares))[y], 1)
    return y, np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


def check(parts, score, *told):
    """The mean, the value of every sample, and the variance; a wrong factor is far outside."""
    n = len(parts)
    assert_allclose(parts.mean(), score(*told), rtol=1e-10)
    without = [score(*(of[np.arange(n) != i] for of in told)) for i in range(n)]
    pseudo = n * score(*told) - (n - 1) * np.array(without)
    assert np.corrcoef(parts, pseudo)[0, 1] > 0.999
    assert_allclose(np.polyfit(pseudo, parts, 1)[0], 1.0, atol=0.05)
    assert_allclose(parts.var(ddof=1), pseudo.var(ddof=1), rtol=0.12)


@pytest.mark.parametrize("world", SHARES)
@pytest.mark.parametrize("scoring", OF_LABELS)
def test_scores_of_labels(scoring, world):
    y, p = answers(SHARES[world])
    check(by_sample(scoring, y, scores=p), OF_LABELS[scoring], y, p.argmax(axis=1))


@pytest.mark.parametrize("scoring", OF_SCORES)
def test_scores_of_probabilities(scoring):
    y, p = answers(SHARES["rare"])
    check(by_sample(scoring, y, scores=p), OF_SCORES[scoring], y, p)


def test_scores_of_two_classes():
    y, p = answers(SHARES["two"])
    words, labels = np.array(["no", "yes"])[y], p.argmax(axis=1)
    check(by_sample("f1", y, labels), metrics.f1_score, y, labels)
    check(by_sample("roc_auc", words, scores=p), metrics.roc_auc_score, y, p[:, 1])
    margins = 8.0 * p[:, 1]
    assert_allclose(by_sample("roc_auc", y, scores=margins), by_sample("roc_auc", words, scores=p))
    assert by_sample("roc_auc", *answers(SHARES["rare"])) is None


@pytest.mark.parametrize("scoring", ERRORS)
def test_scores_of_numbers(scoring):
    rng = np.random.default_rng(0)
    y = rng.normal(size=150)
    said = 0.4 * y + 0.5 * rng.normal(size=150)
    check(by_sample(scoring, y, said), ERRORS[scoring], y, said)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "roc_auc"])
def test_a_part_with_two_samples_of_a_class_has_the_variance_of_many(scoring):
    """Around their own mean two values have half of their variance."""
    few, scores = [], []
    for seed in range(400):
        y, p = answers((0.9, 0.1), n=20, seed=seed)
        parts = by_sample(scoring, y, scores=p)
        few.append(parts.var() / len(y))
        scores.append(parts.mean())
    assert 0.8 < np.mean(few) / np.var(scores) < 1.35


def test_what_a_perfect_or_constant_answer_adds():
    y = np.array([0, 0, 0, 1])
    for scoring in ("accuracy", "balanced_accuracy", "f1", "f1_macro", "roc_auc"):
        assert_allclose(by_sample(scoring, y, y, scores=y), 1.0)
    assert_allclose(by_sample("neg_root_mean_squared_error", y, y), 0.0)
    assert_allclose(by_sample("f1", y, 0 * y), 0.0)
    for said, score in ((np.ones(4), 1.0), (np.zeros(4), 0.0)):
        assert_allclose(by_sample("r2", np.ones(4), said), score)
    assert by_sample("jaccard", y, y) is None


def test_no_sample_reaches_further():
    """One that is changed in a perfect answer moves n times the score by the reach, or less."""
    for shares in SHARES.values():
        y, _ = answers(shares)
        for scoring, score in OF_LABELS.items():
            moved = []
            for label in range(len(shares)):
                said = y.copy()
                said[np.flatnonzero(y == label)[0]] = (label + 1) % len(shares)
                moved.append(len(y) * (1.0 - score(y, said)))
            assert max(moved) <= 1.01 * reach(scoring, y)
            assert max(moved) > 0.45 * reach(scoring, y)
    assert reach("neg_log_loss", y) is None

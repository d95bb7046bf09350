"""MVPO, Iterative algorithm: is the complexity that of SVM-perf on the concatenated features?"""

import numpy as np

rng = np.random.default_rng(0)
done = 0  # multiplications


def times(A, B):
    """A product of matrices, counted."""
    global done
    done += A.size * (B.shape[1] if B.ndim > 1 else 1)
    return A @ B


def work(d, algorithm, n=1000, cuts=20):
    """Multiplications of so many iterations with two views of d/2 features."""
    global done
    done = 0
    x, z = rng.normal(size=(2, n, d // 2))
    together = np.hstack([x, z])
    if algorithm == "MVPO":  # (7), before the loop
        vectors = np.hstack([x, -z])
        inverse = np.linalg.inv(np.eye(d) + times(vectors.T, vectors))  # (15); not counted
    for _ in range(cuts):
        pi = times(together.T, rng.choice([0.0, 2.0], size=n))  # (11) of a new tuple
        w = inverse @ pi if algorithm == "MVPO" else pi  # not counted
        times(together, w)  # the scores, for (16)
    return done


growth = {name: work(800, name) / work(400, name) for name in ("SVM-perf", "MVPO")}
print(f"twice the features take {growth['SVM-perf']:.1f} times the work of SVM-perf")
print(f"and {growth['MVPO']:.1f} times that of MVPO, without its inverse")
assert growth["SVM-perf"] == 2 and growth["MVPO"] > 3.5

"""The data sets of the study of part VI, and the meaning of their views.

The study formed its hypotheses on `FORMING`, real data that chapters of this book had used before.
Its statements are tested on `KEPT`, which no chapter had used when they were written. Tables
without views are cut by the meaning of their columns. If samples belong to people, one person is
the test set and others train: a different person in every repeat.
"""

from functools import lru_cache, partial

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine

from mvref import datasets
from mvref.core.input import MultiView

from . import packages
from .problems import LOADERS

FORMING = {
    "mfeat": "six descriptions of one image of a digit, by six programs",
    "digits": "the four quarters of one image of a digit",
    "mnist1": "the four quarters of one image of a digit",
    "uwave": "the three axes of one accelerometer, every fifth time step",
    "webkb": "words of a page, and words of the links that point to it",
    "citeseer": "words of an article, the articles it cites, and those that cite it",
    "reuters1200": "one news story in five languages, four of them translated by machine",
    "iris": "measures of sepals, and of petals",
    "wine": "acids and minerals, phenols, and colour of a wine",
    "breast-cancer": "mean, standard error and worst value of the same ten measures",
    "horse-colic": "what is seen, what is felt, and what the laboratory says of a horse",
    "house-votes-84": "sixteen votes, four in the order of the file a view: made, not natural",
}
KEPT = {
    "tcga-brca": "three assays of a tumour, and the record of the patient; five subtypes",
    "tcga-lgg": "three assays of a tumour, and the record of the patient; two kinds of glioma",
    "tcga-kipan": "three assays of a tumour, and the record of the patient; kidney",
    "htad": "sound, and an accelerometer at the wrist; seven things done at home",
    "shoulder-exercises": "accelerometer and gyroscope of a watch; seven exercises of ten people",
    "prokaryotic": "texts about a species, its proteome, and its genes",
    "nutrimouse": "genes active in the liver of a mouse, and its fatty acids; five diets",
    "bdgp": "a fly's embryo seen from the side, and from the back",
}
REAL = FORMING | KEPT
UNSEEN = {  # in Python packages; we saw no accuracy on them before we wrote the statements
    "alzheimer-csf": "a panel of proteins, three known ones, genotype and person",
    "preterm-birth": "interview, teeth, antibodies, serum, and DNA of plaque; women with all",
    "hepatic-injury": "assays of a compound, and its chemical structure; three grades of injury",
    "breast-metastasis": "genes of a tumour, and the record of the patient",
    "heart-disease": "examination, blood, electrocardiogram and imaging of a heart",
    "support2": "record, monitor, laboratory, interview and the physician's judgement",
    "yeast-brown": "four kinds of series of one instrument, of a gene of yeast",
    "cells": "four channels of one microscope",
    "steroidogenic": "proteins and hormones of the same cells",
    "ischemic-stroke": "angiography, and the record of the patient",
}
STUDIED = REAL | UNSEEN
INSTRUMENTS = (  # several instruments or sources; the others cut one source in pieces
    "webkb", "citeseer",
    *(name for name in KEPT | UNSEEN
      if name not in ("bdgp", "yeast-brown", "cells", "steroidogenic")),
)  # fmt: skip
PEOPLE = {"uwave": "user", "shoulder-exercises": "subject"}
STRIDE = 5
N_WORDS = 500  # of a sparse view: those that most training samples have
N_FOLDS = 3
CUTS = {  # columns of each view
    "wine": {"acids": [1, 2, 3, 4, 12], "phenols": [5, 6, 7, 8], "colour": [0, 9, 10, 11]},
    "horse-colic": {
        "seen": [0, 1, 5, 7, 8, 9, 11], "felt": [2, 3, 4, 6, 10, 12, 13, 15, 16],
        "laboratory": [14, 17, 18, 19, 20],
    },
    "house-votes-84": {f"votes {i}": list(range(i - 4, i)) for i in (4, 8, 12, 16)},
    "breast-cancer": {
        "mean": list(range(10)), "error": list(range(10, 20)), "worst": list(range(20, 30)),
    },
}  # fmt: skip
LOAD = LOADERS | {
    **{f"tcga-{name}": partial(datasets.fetch_tcga, name) for name in ("brca", "lgg", "kipan")},
    "htad": datasets.fetch_htad,
    "shoulder-exercises": datasets.fetch_shoulder_exercises,
    "nutrimouse": datasets.fetch_nutrimouse,
    "prokaryotic": datasets.fetch_prokaryotic,
    "bdgp": datasets.fetch_bdgp,
}
OF_SKLEARN = {"wine": load_wine, "breast-cancer": load_breast_cancer}
SIZES = {  # samples, views, columns, classes
    "mfeat": (2000, 6, 649, 10), "digits": (1797, 4, 64, 10), "mnist1": (70_000, 4, 784, 10),
    "uwave": (4478, 3, 189, 8), "webkb": (1051, 2, 18342, 2), "citeseer": (3312, 3, 10327, 6),
    "reuters1200": (1200, 5, 10000, 6), "iris": (150, 2, 4, 3), "wine": (178, 3, 13, 3),
    "breast-cancer": (569, 3, 30, 2), "horse-colic": (368, 3, 21, 2),
    "house-votes-84": (435, 4, 16, 2), "tcga-brca": (769, 4, 720, 5), "tcga-lgg": (511, 4, 713, 2),
    "tcga-kipan": (633, 4, 712, 2), "htad": (1386, 2, 52, 7),
    "shoulder-exercises": (2229, 2, 96, 7), "prokaryotic": (551, 3, 834, 4),
    "nutrimouse": (40, 2, 141, 5), "bdgp": (2500, 2, 1500, 5), "alzheimer-csf": (333, 4, 131, 2),
    "preterm-birth": (382, 5, 60, 2), "hepatic-injury": (281, 2, 376, 3),
    "breast-metastasis": (189, 2, 80, 2), "heart-disease": (303, 4, 20, 2),
    "support2": (6048, 5, 34, 2), "yeast-brown": (186, 4, 79, 3), "cells": (2019, 4, 56, 2),
    "steroidogenic": (162, 2, 12, 2), "ischemic-stroke": (126, 2, 28, 2),
}  # fmt: skip
N_SAMPLES = {name: size[0] for name, size in SIZES.items()}


@lru_cache(maxsize=1)
def load(name):
    """Return the views, the labels, and the person of each sample, or None."""
    if name in UNSEEN:
        (X, y), people = packages.load(name), None
    elif name in OF_SKLEARN:
        (X, y), people = OF_SKLEARN[name](return_X_y=True), None
    else:
        data = LOAD[name]()
        X, y, people = data.X, data.y, data.meta.get(PEOPLE.get(name))
    if name in CUTS:
        table = X.views[0] if isinstance(X, MultiView) else X
        X = MultiView({view: table[:, columns] for view, columns in CUTS[name].items()})
    if name == "uwave":
        X = MultiView([view[:, ::STRIDE] for view in X.views], names=X.names)
    return X, y, people


def size_of(name, n_train):
    """Return the training size: `n_train`, but at most four fifths of a small data set."""
    most = int(0.8 * N_SAMPLES[name])
    return n_train if n_train <= most or n_train > 100 else most


def patterns_of(name):
    """Return the patterns of observed views, "0" and "1", with one view missing or one left."""
    V = SIZES[name][1]
    alone = ["0" * v + "1" + "0" * (V - v - 1) for v in range(V)]
    gone = ["".join("10"[int(c)] for c in word) for word in alone]
    return tuple(dict.fromkeys(gone + alone))


def common_words(X, train):
    """Keep the columns of sparse views that most training samples have."""
    views = []
    for view in X.views:
        if sparse.issparse(view) and view.shape[1] > N_WORDS:
            counts = np.asarray((view[train] != 0).sum(axis=0)).ravel()
            view = view[:, np.sort(np.argsort(-counts, kind="stable")[:N_WORDS])]
        views.append(view)
    return MultiView(views, names=X.names)

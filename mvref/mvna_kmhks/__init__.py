"""MVNA-KMHKS: Ho-Kashyap machines on Nystroem features, which agree across views.

Read in this order: ``estimator`` (the three classifiers), ``ho_kashyap`` (the algorithm),
``machines`` (one view's machine, by features or by the Gram matrix).
"""

from .estimator import KMHKS, MVNAKMHKS, NAKMHKS

__all__ = ["KMHKS", "MVNAKMHKS", "NAKMHKS"]

"""MVNA-KMHKS: Ho-Kashyap machines on Nystroem features, which agree across views.

Read in this order: ``estimator`` (three classifiers and their base), ``ho_kashyap``, ``machines``
(of one view).
"""

from .estimator import KMHKS, MVNAKMHKS, NAKMHKS

__all__ = ["KMHKS", "MVNAKMHKS", "NAKMHKS"]

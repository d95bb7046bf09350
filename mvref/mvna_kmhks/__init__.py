"""MVNA-KMHKS: kernel Ho-Kashyap classifiers on Nystroem features, which agree across views.

Read in this order: ``estimator`` (three classifiers and their base), ``ho_kashyap``, ``machines``
(the classifier of one view).

One page          Here
``kernel``        ``rbf`` in :mod:`mvref.core.kernels`
``features``      ``NystromViews`` in :mod:`mvref.core.nystrom`
``factorised``    ``FactorMachine``
``sweep``         ``_sweep``, ``Coupling``
``fit``           ``ho_kashyap``
``decision``      ``_scores``
"""

from .estimator import KMHKS, MVNAKMHKS, NAKMHKS

__all__ = ["KMHKS", "MVNAKMHKS", "NAKMHKS"]

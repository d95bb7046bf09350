"""The views as MVNA-KMHKS computes with them: Nyström features, or the kernel matrix itself.

Each of the M machines has some of the views: MVNA-KMHKS one each, its Nyström approximation; the
machines that the paper compares with, NA-KMHKS and KMHKS, are one machine (M = 1) whose kernel is
the sum of those of all the views, so their features side by side.
"""

import numpy as np

from .kernel_machines import FactorMachine, GramMachine
from .kernels import fit_similarities
from .mvpo_views import KernelViews, inner_products
from .nystrom import draw_components, nystrom_features, nystrom_map


class NystromViews:
    """Nyström features of the views, machine by machine.

    Parameters
    ----------
    X : MultiView of n samples
        A view for every approximation.
    kernels : list of names or callables, one per view
    gammas : list of float, "mean" or None, one per view
    sources : list of M lists of int
        The views of every machine.
    n_components : int, float or "auto"
        See :func:`mvref.nystrom.draw_components`.
    rng : RandomState

    Attributes
    ----------
    components : list of int arrays, one per view
    similarities : list of Similarity, one per view
        Kernels to the components.
    factors : list of M arrays (n, r_p)
    seen : bool array, shape (M, n)

    Examples
    --------
    >>> import numpy as np
    >>> from mvref import MultiView
    >>> from mvref.mvna_views import NystromViews
    >>> X = MultiView([np.array([[1.0], [2.0], [3.0]])])
    >>> form = NystromViews(X, ["linear"], [None], [[0]], 2, np.random.RandomState(0))
    >>> (form.factors[0] @ form.factors[0].T).round(12)  # exact: the kernel has rank one
    array([[1., 2., 3.],
           [2., 4., 6.],
           [3., 6., 9.]])
    """

    def __init__(self, X, kernels, gammas, sources, n_components, rng):
        self.sources = sources
        self.seen = np.array([X.observed[:, views].any(axis=1) for views in sources])
        self.components = draw_components(X.observed, n_components, rng)
        self.similarities = _similarities(X, kernels, gammas, self.components)
        self.maps = [self._map(X, v) for v in range(X.n_views)]
        self.factors = [self._features(X, views) for views in sources]

    def _map(self, X, v):
        return nystrom_map(self.similarities[v](X.views[v][self.components[v]]))

    def _features(self, X, views):
        parts = [
            nystrom_features(X.views[v], X.observed[:, v], self.similarities[v], self.maps[v])
            for v in views
        ]
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def machine(self, p, rows, weight, c):
        """Return machine p on some of the samples.

        Parameters
        ----------
        p : int
        rows : slice or int array
        weight : array
            Curvature of these samples.
        c : float

        Returns
        -------
        machine : FactorMachine
        """
        return FactorMachine(self.factors[p][rows], self.seen[p][rows], weight, c)

    def component_coefficients(self, thetas):
        """Return the coefficients of the components: T beta, so that the score is k(x, S) T beta.

        Parameters
        ----------
        thetas : list of M arrays (r_p + 1,)

        Returns
        -------
        coefficients : list of arrays (m_v,), one per view
        """
        coefficients = [None] * len(self.maps)
        for views, theta in zip(self.sources, thetas, strict=True):
            ends = np.cumsum([self.maps[v].shape[1] for v in views])
            for v, beta in zip(views, np.split(theta[:-1], ends[:-1]), strict=True):
                coefficients[v] = self.maps[v] @ beta
        return coefficients


class GramViews:
    """The sum of the kernel matrices of all views, for one machine.

    Parameters
    ----------
    X : MultiView of n samples
    kernels : list of names or callables, one per view
    gammas : list of float, "mean" or None, one per view

    Attributes
    ----------
    components : list of int arrays, one per view
        All samples that have it.
    similarities : list of Similarity, one per view
    seen : bool array, shape (1, n)
    """

    def __init__(self, X, kernels, gammas):
        form = KernelViews(X, kernels, gammas, 0.0)
        self.components, self.similarities = form.rows, form.similarities
        self.seen = X.observed.any(axis=1)[None]
        grams = form.grams()
        self.K = grams[0]
        for K in grams[1:]:
            self.K += K

    def machine(self, p, rows, weight, c):
        """Return the machine on some of the samples.

        Parameters
        ----------
        p, weight : ignored
            There is one machine, whose curvature is 1.
        rows : slice or int array
        c : float

        Returns
        -------
        machine : GramMachine, or FactorMachine if c is 0
        """
        K = self.K[rows][:, rows]
        if c > 0:
            return GramMachine(K, c)
        return FactorMachine(K @ nystrom_map(K), np.ones(len(K), dtype=bool), weight, c)


def sample_similarities(X, kernels, gammas):
    """Return the kernels to all samples that have the view, which Eq. (11) prints.

    Parameters
    ----------
    X : MultiView of n samples
    kernels : list of names or callables, one per view
    gammas : list of float, "mean" or None, one per view

    Returns
    -------
    similarities : list of Similarity, one per view
    """
    return _similarities(X, kernels, gammas, [np.flatnonzero(seen) for seen in X.observed.T])


def _similarities(X, kernels, gammas, rows):
    complete = [np.flatnonzero(seen) for seen in X.observed.T]
    kernels = [inner_products if kernel == "linear" else kernel for kernel in kernels]
    return fit_similarities(kernels, gammas, X, rows, complete)

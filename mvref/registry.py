"""Every method of the book by name."""


def all_methods():
    """Return every estimator of mvref: the methods of the papers, then their rivals.

    Returns
    -------
    methods : dict name -> class

    Examples
    --------
    >>> import mvref
    >>> mvref.all_methods()["MVLSVM"]
    <class 'mvref.mvl_svm.MVLSVM'>
    """
    from . import mvl_svm, mvm, mvna_kmhks, mvpo, mwmvc2, rivals

    methods = {
        "LandmarkProjection": mvl_svm.LandmarkProjection,
        "MVLSVM": mvl_svm.MVLSVM,
        "MwMvC2": mwmvc2.MwMvC2,
        "MVPO": mvpo.MVPO,
        "MVMClassifier": mvm.MVMClassifier,
        "MVMRegressor": mvm.MVMRegressor,
        "MVNAKMHKS": mvna_kmhks.MVNAKMHKS,
        "NAKMHKS": mvna_kmhks.NAKMHKS,
        "KMHKS": mvna_kmhks.KMHKS,
    }
    return methods | {name: getattr(rivals, name) for name in rivals.__all__}

"""What our results say where a paper's text makes a statement in numbers; one module per paper.

``CLAIMS[paper][measure]`` belongs to the rows of ``paper_numbers.csv`` with that measure. It is the
setting of our runs, a number; or a function that gets the summary of the item and the row, and
returns text.
"""

from . import mvl_svm, mvm, mvna_kmhks, mvpo, mwmvc2

CLAIMS = {
    "mvl_svm": mvl_svm.CLAIMS,
    "mwmvc2": mwmvc2.CLAIMS,
    "mvpo": mvpo.CLAIMS,
    "mvm": mvm.CLAIMS,
    "mvna_kmhks": mvna_kmhks.CLAIMS,
}

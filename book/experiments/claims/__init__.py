"""What our results say where a paper's text makes a statement in numbers; one module per paper.

``CLAIMS[paper][measure]`` belongs to the rows of ``paper_numbers.csv`` with that measure. It is the
setting of our runs, a number; or a function that gets the summary of the item and the row, and
returns text.
"""

from . import mvl_svm, mvm, mvna_kmhks, mvpo, mwmvc2

PAPERS = (mvl_svm, mwmvc2, mvpo, mvm, mvna_kmhks)
CLAIMS = {paper.__name__.rpartition(".")[2]: paper.CLAIMS for paper in PAPERS}

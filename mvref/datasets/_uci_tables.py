"""How the five tables of :func:`mvref.datasets.fetch_uci` are read: fields, codes and targets."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """How the file of one data set is to be read.

    width: Number of fields on a line; inputs: Name of an attribute -> its field, from 0; measured:
    The attributes that are numbers; all others are codes without an order; targets: Name of a
    target -> (its field, dict code in the file -> class). The first is the default; treatments:
    Values of `missing`. The first is the default; mark: What the file has where there is no value.
    """

    title: str
    citation: str
    notes: str
    width: int
    inputs: dict
    measured: tuple
    targets: dict
    treatments: tuple
    mark: str = "?"


def _fields(names, first):
    return {name: first + i for i, name in enumerate(names)}


HORSE_INPUTS = (
    "surgery age hospital_number rectal_temperature pulse respiratory_rate "
    "temperature_of_extremities peripheral_pulse mucous_membranes capillary_refill_time pain "
    "peristalsis abdominal_distension nasogastric_tube nasogastric_reflux nasogastric_reflux_ph "
    "rectal_examination abdomen packed_cell_volume total_protein abdominocentesis_appearance "
    "abdominocentesis_total_protein"
).split()

TABLES = {
    "lung-cancer": Table(
        "Lung cancer: three types of the disease",
        "Z.-Q. Hong, J.-Y. Yang, Optimal discriminant plane for a small number of samples and "
        "design method of classifier on the plane, Pattern Recognition 24(4), 317-324, 1991.",
        "56 attributes with codes 0 to 3, whose meaning is not known. Five values are missing: "
        "four of attribute_4, one of attribute_38.",
        57,
        _fields([f"attribute_{i}" for i in range(1, 57)], 1),
        (),
        {"type": (0, {"1": "type 1", "2": "type 2", "3": "type 3"})},
        ("fill", "drop", "keep"),
    ),
    "house-votes-84": Table(
        "Votes of the US House of Representatives in 1984, by party",
        "J. C. Schlimmer, Concept acquisition through representational adjustment, PhD thesis, "
        "University of California, Irvine, 1987; after the Congressional Quarterly Almanac 1984.",
        "16 votes: yea is 1 and nay is -1. The mark ? means neither of them, which need not mean "
        "unknown: 392 of them, in 203 rows. One member has no vote at all.",
        17,
        _fields([f"vote_{i}" for i in range(1, 17)], 1),
        (),
        {"party": (0, {"democrat": "democrat", "republican": "republican"})},
        ("value", "fill", "drop", "keep"),
    ),
    "shuttle-landing-control": Table(
        "Shuttle landing control: when to land automatically",
        "D. Michie, The fifth generation's unbridged gap, in R. Herken (ed.), The Universal Turing "
        "Machine: a Half-Century Survey, 1988; donated by B. Cestnik.",
        "Each of the 15 lines is a rule, and the mark * means that the attribute does not matter: "
        "it is not a missing value.",
        7,
        _fields(["stability", "error", "sign", "wind", "magnitude", "visibility"], 1),
        (),
        {"landing": (0, {"1": "by hand", "2": "automatic"})},
        ("value", "expand", "keep"),
        mark="*",
    ),
    "horse-colic": Table(
        "Horse colic: 368 horses, their lesion and what became of them",
        "M. McLeish, M. Cecile, Horse Colic, UCI Machine Learning Repository, 1989.",
        "A quarter of all values is missing. The hospital number is left out, and so are the codes "
        "of the lesion and the remark on pathology data. Neither target is an input for the other: "
        "both are known only afterwards. Age is coded 1 (adult) and 9 (below six months).",
        28,
        {name: i for i, name in enumerate(HORSE_INPUTS) if name != "hospital_number"},
        (
            "rectal_temperature",
            "pulse",
            "respiratory_rate",
            "nasogastric_reflux_ph",
            "packed_cell_volume",
            "total_protein",
            "abdominocentesis_total_protein",
        ),
        {
            "lesion": (23, {"1": "surgical", "2": "not surgical"}),
            "outcome": (22, {"1": "lived", "2": "died", "3": "euthanized"}),
        },
        ("fill", "keep"),
    ),
    "echocardiogram": Table(
        "Echocardiogram: patients after a heart attack",
        "S. Salzberg (donor), E. Kinney (collector), Echocardiogram, UCI Machine Learning "
        "Repository, 1989.",
        "Inputs are the seven measurements. Months of survival are no input: "
        "both targets are made from them. Line 50 of the file has a comma too many at its start, "
        "which is removed; it has no target, so that it is left out all the same.",
        13,
        _fields(
            [
                "age",
                "pericardial_effusion",
                "fractional_shortening",
                "epss",
                "lvdd",
                "wall_motion_score",
                "wall_motion_index",
            ],
            2,
        ),
        ("age", "fractional_shortening", "epss", "lvdd", "wall_motion_score", "wall_motion_index"),
        {
            "still_alive": (1, {"0": "dead", "1": "alive"}),
            "alive_at_1": (12, {"0": "dead or not followed", "1": "alive after a year"}),
        },
        ("fill", "drop", "keep"),
    ),
}
SHUTTLE_CODES = (2, 4, 2, 2, 4, 2)  # an attribute has the codes 1 to this

"""The commands of the experiments: ``python -m mvref list | cost | run | multiverse | ...``."""

import re

from mvref import experiments

from .items import stale_lines
from .multiverse import run_multiverse


def add_commands(commands):
    """Add the commands to mvref's command line; each sets ``answer``, which returns a text."""
    listing = commands.add_parser("list", help="what can be run, and what is done")
    listing.add_argument("--stale", action="store_true", help="rows made by code that has changed")
    listing.set_defaults(answer=_list)
    running = commands.add_parser("run", help="compute the rows that the ledger does not have")
    running.add_argument("item", nargs="+", help="for example mvl_svm.fig2, table1, or all")
    running.add_argument("--repeats", type=int, metavar="N", help="only N of each, to go on later")
    running.set_defaults(
        answer=lambda o: experiments.run_items(o.item, n_repeats=o.repeats, **_how(o))
    )
    pricing = commands.add_parser(
        "cost", help="how long the rest takes, by the rows that are there"
    )
    pricing.add_argument("item", nargs="+")
    pricing.set_defaults(answer=lambda o: "\n".join(experiments.cost_lines(o.item, o.ledger)))
    universes = commands.add_parser("multiverse", help="every choice that a paper leaves open")
    universes.add_argument("item", help="for example mvna_table2")
    universes.add_argument("--figures", metavar="DIR", help="folder for a picture of every curve")
    universes.set_defaults(answer=lambda o: run_multiverse(o.item, figures=o.figures, **_how(o)))
    for command in (running, universes):
        command.add_argument("--quick", action="store_true", help="small variant, minutes")
        command.add_argument("--jobs", type=int, default=1, metavar="N", help="default 1 process")
        command.add_argument("--dataset", help="only this data set")
    comparing = commands.add_parser("compare", help="our numbers beside the paper's")
    comparing.add_argument("item")
    comparing.set_defaults(answer=lambda o: experiments.compare(o.item, folder=o.ledger))
    reporting = commands.add_parser("report", help="the verdict on every table and figure")
    reporting.add_argument("paper", nargs="?", help="for example mvl_svm (default: all)")
    reporting.set_defaults(answer=_report)
    for command in (listing, pricing, running, universes, comparing, reporting):
        command.add_argument("--ledger", metavar="DIR", help="folder of the ledger")


def _list(options):
    return "\n".join((stale_lines if options.stale else experiments.status)(options.ledger))


def _how(o):
    return {"quick": o.quick, "n_jobs": o.jobs, "folder": o.ledger, "only": o.dataset}


def _report(options):
    page = experiments.reproduction_page(options.paper, folder=options.ledger)
    return re.sub(r"</?(span|details|summary|b)\b[^>]*>", "", page)

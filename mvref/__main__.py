"""Command line: ``python -m mvref list | cost | run | multiverse | compare | report | ...``."""

import argparse
import os
import re
import sys


def main(arguments=None):
    """Run the command line.

    arguments: default: those of the process.
    """
    from . import experiments  # here, so that --help answers at once

    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        if options.command == "list":
            tell = experiments.items.stale_lines if options.stale else experiments.status
            text = "\n".join(tell(options.ledger))
        elif options.command == "cost":
            text = "\n".join(experiments.cost_lines(options.item, options.ledger))
        elif options.command == "compare":
            text = experiments.compare(options.item, folder=options.ledger)
        elif options.command == "multiverse":
            text = _multiverse(options)
        elif options.command == "compare-tables":
            text = str(_compare_tables(options))
        elif options.command == "report":
            page = experiments.reproduction_page(options.paper, folder=options.ledger)
            text = re.sub(r"</?(span|details|summary|b)\b[^>]*>", "", page)
        else:
            text = experiments.run_items(
                options.item,
                quick=options.quick,
                n_jobs=options.jobs,
                n_repeats=options.repeats,
                folder=options.ledger,
                only=options.dataset,
            )
    except (ValueError, OSError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print("\nStopped; the same command goes on from here.", file=sys.stderr)
        return 130
    try:
        print(text, flush=True)
    except BrokenPipeError:  # the reader, for example `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _multiverse(options):
    from .experiments.multiverse import run_multiverse

    return run_multiverse(
        options.item,
        quick=options.quick,
        n_jobs=options.jobs,
        folder=options.ledger,
        only=options.dataset,
        figures=options.figures,
    )


def _compare_tables(options):
    from . import compare_methods
    from .datasets import read_folder

    data = read_folder(options.folder, key=options.key, target=options.target)
    return compare_methods(
        data.X,
        data.y,
        options.methods,
        scoring=options.scoring,
        budget=options.budget,
        folder=options.keep,
        n_jobs=options.jobs,
    )


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m mvref", description="Reproduce the tables and figures of the papers."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="what can be run, and what is done")
    listing.add_argument("--stale", action="store_true", help="rows made by code that has changed")
    running = commands.add_parser("run", help="compute the rows that the ledger does not have")
    running.add_argument("item", nargs="+", help="for example mvl_svm.fig2, table1, or all")
    running.add_argument("--repeats", type=int, metavar="N", help="only N of each, to go on later")
    pricing = commands.add_parser(
        "cost", help="how long the rest takes, by the rows that are there"
    )
    pricing.add_argument("item", nargs="+")
    universes = commands.add_parser("multiverse", help="every choice that a paper leaves open")
    universes.add_argument("item", help="for example mvna_table2")
    universes.add_argument("--figures", metavar="DIR", help="folder for a picture of every curve")
    for command in (running, universes):
        command.add_argument("--quick", action="store_true", help="small variant, minutes")
        command.add_argument("--jobs", type=int, default=1, metavar="N", help="default 1 process")
        command.add_argument("--dataset", help="only this data set")
    comparing = commands.add_parser("compare", help="our numbers beside the paper's")
    comparing.add_argument("item")
    own = commands.add_parser("compare-tables", help="are views worth anything in your tables?")
    own.add_argument("folder", help="one table per view, see mvref.datasets.read_folder")
    own.add_argument("--target", default="label", help="column of the labels (default label)")
    own.add_argument("--key", default="id", help="column that joins the tables (default id)")
    own.add_argument("--scoring", default="accuracy", help="a scorer of scikit-learn")
    own.add_argument("--methods", nargs="+", default="recommended", metavar="METHOD")
    own.add_argument("--budget", type=int, default=6, help="points that each method tries")
    own.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")
    own.add_argument("--keep", metavar="DIR", help="folder of finished trainings, to go on later")
    reporting = commands.add_parser("report", help="the verdict on every table and figure")
    reporting.add_argument("paper", nargs="?", help="for example mvl_svm (default: all)")
    for command in (listing, pricing, running, universes, comparing, reporting):
        command.add_argument("--ledger", metavar="DIR", help="folder of the ledger")
    return parser


if __name__ == "__main__":
    sys.exit(main())

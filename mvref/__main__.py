"""Command line: ``python -m mvref compare-tables``, and the commands of the book's experiments."""

import argparse
import os
import sys


def main(arguments=None):
    """Run the command line.

    arguments: default: those of the process.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    parser = argparse.ArgumentParser(
        prog="python -m mvref", description="Your own tables, and those of the papers."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    _add_compare_tables(commands)
    if words[:1] != ["compare-tables"]:
        try:
            from .experiments.command_line import add_commands
        except ModuleNotFoundError as error:  # in the installed package
            if words and words[0] not in ("-h", "--help"):
                parser.error(str(error))
        else:
            add_commands(commands)
    options = parser.parse_args(words)
    try:
        text = options.answer(options)
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


def _add_compare_tables(commands):
    own = commands.add_parser("compare-tables", help="are views worth anything in your tables?")
    own.add_argument("folder", help="one table per view, see mvref.datasets.read_folder")
    own.add_argument("--target", default="label", help="column of the labels (default label)")
    own.add_argument("--key", default="id", help="column that joins the tables (default id)")
    own.add_argument("--scoring", default="accuracy", help="a scorer of scikit-learn")
    own.add_argument("--methods", nargs="+", default="recommended", metavar="METHOD")
    own.add_argument("--budget", type=int, default=6, help="points that each method tries")
    own.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")
    own.add_argument("--keep", metavar="DIR", help="folder of finished trainings, to go on later")
    own.set_defaults(answer=_compare_tables)


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


if __name__ == "__main__":
    sys.exit(main())

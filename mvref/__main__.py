"""Command line: ``python -m mvref compare-tables``, and the commands of the book's experiments."""

import argparse
import os
import sys

import numpy as np


def main(arguments=None):
    """Run the command line; arguments: list of str, by default ``sys.argv[1:]``."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    parser = argparse.ArgumentParser(
        prog="python -m mvref", description="Compare methods on your tables, or run the book's."
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
    if hasattr(sys.stdout, "reconfigure"):  # a terminal shows a "?" for characters it lacks
        sys.stdout.reconfigure(errors="replace")
    try:
        text = options.answer(options)
    except (ValueError, OSError, ImportError, MemoryError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print("\nStopped. Run the same command again to continue.", file=sys.stderr)
        return 130
    try:
        print(text, flush=True)
    except BrokenPipeError:  # the reader, for example `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _add_compare_tables(commands):
    own = commands.add_parser("compare-tables", help="compare methods on your own tables")
    own.add_argument("folder", help="one table per view, see mvref.datasets.read_folder")
    own.add_argument("--target", default="label", help="column of the labels (default: label)")
    own.add_argument("--key", default="id", help="column that joins the tables (default: id)")
    own.add_argument("--groups", metavar="COLUMN", help="column of the groups, e.g. patients")
    own.add_argument("--text", nargs="+", default=(), metavar="COLUMN", help="text columns")
    own.add_argument("--sep", help="field separator of text files")
    own.add_argument("--decimal", help="decimal mark of text files (default: .)")
    own.add_argument("--encoding", help="encoding of text files (default: utf-8)")
    own.add_argument("--scoring", help="a scorer of scikit-learn (default: accuracy, or r2)")
    own.add_argument("--methods", nargs="+", default="recommended", metavar="METHOD")
    own.add_argument("--missing-later", nargs="+", metavar="VIEW", help="'any', or view names")
    own.add_argument("--budget", type=int, default=6, help="hyperparameter settings per method")
    for name in ("splits", "repeats", "folds"):
        own.add_argument(f"--{name}", type=int, metavar="N", help=f"n_{name} of compare_methods")
    own.add_argument("--time-limit", type=float, metavar="SECONDS", help="limit of the run time")
    own.add_argument("--seed", type=int, default=0, help="seed of the splits and the methods")
    own.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    own.add_argument("--keep", metavar="DIR", default="auto", help="folder of finished splits")
    own.add_argument("--report", metavar="FILE", default="views.html", help="report to write")
    own.set_defaults(answer=_compare_tables)


def _compare_tables(options):
    from . import compare_methods
    from .datasets import read_folder

    names = ("key", "target", "groups", "text", "sep", "decimal", "encoding")
    data = read_folder(options.folder, **{name: getattr(options, name) for name in names})
    later = options.missing_later
    comparison = compare_methods(
        data.X,
        data.y,
        options.methods,
        scoring=options.scoring,
        groups=data.meta["groups"],
        encode=_encoder(data.X, options.text),
        missing_later="any" if later == ["any"] else later,
        budget=options.budget,
        n_splits=options.splits,
        n_repeats=options.repeats,
        n_folds=options.folds,
        time_limit=options.time_limit,
        folder=options.keep,
        n_jobs=options.jobs,
        random_state=options.seed,
    )
    return f"{comparison}\nThe report: {comparison.report(options.report)}"


def _encoder(X, text):
    """Return the transformer that vectorises the columns `text`, or None if there are none."""
    from sklearn.compose import make_column_transformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    from . import PerView

    flat = SimpleImputer(strategy="constant", fill_value=""), FunctionTransformer(np.ravel)
    read = make_pipeline(*flat, TfidfVectorizer(token_pattern=r"\S+"))
    encoders = {}
    for name, columns in zip(X.names, X.feature_names, strict=True):
        words = [(read, [column]) for column in columns if column in text]
        if words:
            encoders[name] = make_column_transformer(*words, remainder="passthrough")
    return PerView(encoders, remainder="passthrough") if encoders else None


if __name__ == "__main__":
    sys.exit(main())

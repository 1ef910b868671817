"""The numbers of the RAPID paper made again.

python -m benchmarks.paper kappa            # table on the terminal
python -m benchmarks.paper kappa --write    # and docs/paper.md with its figures
"""

import argparse
import sys
from collections.abc import Sequence

from benchmarks.paper import adult, drivers, example, health
from benchmarks.paper.page import TOLERANCE, Section, write


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; return 1 where a number is farther from the paper's than the tolerance."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    chosen = _parser().parse_args(given)
    section = _run(chosen)
    print(f"{section.title}\n\n{section.text()}")
    if chosen.write:
        command = "python -m benchmarks.paper " + " ".join(given)
        print("\nwritten: " + ", ".join(str(path) for path in write(section, command)))
    return int(section.deviation is not None and section.deviation > TOLERANCE)


def _run(chosen: argparse.Namespace) -> Section:
    rows, jobs, repetitions = chosen.rows, chosen.jobs, chosen.repetitions
    kappas = {} if not getattr(chosen, "kappas", None) else {"kappas": tuple(chosen.kappas)}
    match chosen.command:
        case "kappa":
            return health.kappa(repetitions or 10, rows or 1000, jobs, chosen.full, **kappas)
        case "thresholds":
            return health.thresholds(repetitions or 10, rows or 1000, jobs, **kappas)
        case "attribution":
            return drivers.attribution(repetitions or 50, rows or 1000, jobs)
        case "adult":
            return adult.income(repetitions or 5, rows, jobs)
        case "attackers":
            return adult.attackers(repetitions or 5, rows, jobs)
        case "marital":
            return adult.marital(repetitions or 5, rows, jobs)
        case _:
            return example.example(repetitions or 10, jobs)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, words in {
        "kappa": "RAPID and accuracy against the strength of dependence (Figure 4 a)",
        "thresholds": "RAPID against the threshold (Figure 4 b)",
        "attribution": "which quasi-identifiers drive risk (Figure 5)",
        "adult": "Adult, income (Table 2, Figure 3)",
        "attackers": "Adult, income, three attacker models and their envelope",
        "marital": "Adult, marital status as a second attribute",
        "example": "the usage example (Appendix B)",
    }.items():
        command = commands.add_parser(name, help=words, description=words)
        command.add_argument("--write", action="store_true", help="refresh its section and figures in docs/")
        command.add_argument("--jobs", type=int, default=2, help="processes at the same time")
        command.add_argument("--repetitions", type=int, help="tables, releases or seeds; as in the paper unless given")
        command.add_argument("--rows", type=int, help="records of the table; as in the paper unless given")
        if name in ("kappa", "thresholds"):
            command.add_argument("--kappas", type=int, nargs="+", help="which kappas")
        if name == "kappa":
            command.add_argument("--full", action="store_true", help="all 101 kappas in the figure, minutes")
    return parser


if __name__ == "__main__":
    sys.exit(main())

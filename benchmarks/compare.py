"""Compares this checkout with another commit: `make bench-compare REF=v0.1.0 WHAT="synth prove"`.

Both are measured by their own benchmarks, in an environment of their own, by turns: what else the
machine does slows both. Beside each row there is the time of the processor, which others disturb
least.
"""

import argparse
import io
import os
import statistics
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import PROJECT
from benchmarks.results import ROW

TREES = PROJECT / "build" / "compare"
USUAL = ("synth", "watermarks", "job_overhead", "commands", "unit_tests")
LEAST = 0.1  # rows have two digits after the point: of a smaller number a ratio says nothing
INVERSE = (
    "how many times faster"  # of such a row more is better; the rows that it divides are there
)


@dataclass(frozen=True)
class Ratio:
    """How many times as much a row is in this checkout, in each round."""

    name: str
    rounds: Sequence[float]

    @property
    def median(self) -> float:
        """The ratio of the round in the middle."""
        return statistics.median(self.rounds)

    def row(self) -> str:
        """Return the line of a table in Markdown: name, median, range."""
        return (
            f"| {self.name} | {self.median:.2f} | {min(self.rounds):.2f}-{max(self.rounds):.2f} |"
        )


def ratios(old: Sequence[Mapping[str, float]], new: Sequence[Mapping[str, float]]) -> list[Ratio]:
    """Return the ratios of the rows that every round of both commits has.

    Args:
        old: the medians of the other commit by row, for each round.
        new: those of this checkout.

    Example: ``ratios([{"a": 2.0}], [{"a": 3.0}])`` is ``[Ratio("a", [1.5])]``.
    """
    return [
        Ratio(name, [after[name] / before[name] for before, after in zip(old, new, strict=True)])
        for name in (old[0] if old else ())
        if INVERSE not in name and all(each.get(name, 0) >= LEAST for each in (*old, *new))
    ]


def rows_of(text: str) -> dict[str, float]:
    """Return the medians in what a benchmark prints, by row."""
    return {row["what"]: float(row["median"]) for row in ROW.finditer(text)}


def tree_of(ref: str) -> Path:
    """Return a folder with the files of a commit, set up; it stays for the next comparison."""
    git = ["git", "-C", str(PROJECT)]
    asked = [*git, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"]
    commit = subprocess.run(asked, stdout=subprocess.PIPE, text=True).stdout.strip()  # noqa: S603
    if not commit:
        raise SystemExit(
            f"REF is {ref!r}, which is no commit here; give a tag, a branch or a hash, as in "
            "make bench-compare REF=main"
        )
    tree = TREES / commit[:12]
    if not tree.is_dir():
        files = subprocess.run([*git, "archive", commit], stdout=subprocess.PIPE, check=True).stdout  # noqa: S603
        with tarfile.open(fileobj=io.BytesIO(files)) as archive:
            archive.extractall(tree.with_suffix(".part"), filter="data")
        tree.with_suffix(".part").rename(tree)
    subprocess.run(["make", "--silent", "setup"], cwd=tree, env=_environment(tree), check=True)  # noqa: S607
    return tree


def measured(tree: Path, name: str) -> dict[str, float]:
    """Run a benchmark of a folder; return its medians by row, and the seconds of the processor."""
    before = os.times()
    command = [str(tree / ".venv/bin/python"), "-m", f"benchmarks.{name}"]
    run = subprocess.run(  # noqa: S603 (our own commands)
        command, cwd=tree, env=_environment(tree), stdout=subprocess.PIPE, text=True, check=True
    )
    after = os.times()
    used = sum(after[2:4]) - sum(before[2:4])  # of processes that have ended
    return {**rows_of(run.stdout), f"{name}: processor, whole benchmark": used}


def _environment(tree: Path) -> dict[str, str]:
    """Return the variables for a folder: neither its programs nor its modules are those of here."""
    others = ("PYTHONPATH", "VIRTUAL_ENV", "TIDEMARK_HOME")
    kept = {name: value for name, value in os.environ.items() if name not in others}
    own = [str(tree / folder) for folder in (".venv/bin", "node_modules/.bin")]
    here = [str(PROJECT / folder) for folder in (".venv/bin", "node_modules/.bin")]
    path = [folder for folder in kept["PATH"].split(os.pathsep) if folder not in here]
    return {**kept, "PATH": os.pathsep.join([*own, *path])}


def main(arguments: Sequence[str]) -> int:
    """Measure both, print each ratio, and return 1 if a row takes too many times as long."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("ref", help="the other commit: a tag, a branch or a hash")
    usual = f"benchmarks; without one {', '.join(USUAL)}"
    parser.add_argument("names", nargs="*", metavar="NAME", help=usual)
    of_each = "turns of each commit, 1 to 20"
    parser.add_argument("--rounds", type=int, choices=range(1, 21), default=3, help=of_each)
    parser.add_argument("--most", type=float, default=1.25, help="fail from this ratio on")
    options = parser.parse_args(arguments)
    names = options.names or USUAL
    known = sorted(file.stem for file in Path(__file__).parent.glob("[a-z]*.py"))
    if unknown := set(names) - set(known):
        parser.error(f"{', '.join(unknown)}: no such benchmark; there are {', '.join(known)}")
    other, slow = tree_of(options.ref), list[str]()
    print(f"| times as much as {options.ref} | median | range |\n|---|---|---|")  # noqa: T201 (a command)
    for name in names:
        turns = [(measured(other, name), measured(PROJECT, name)) for _ in range(options.rounds)]
        for ratio in ratios(*zip(*turns, strict=True)):
            print(ratio.row(), flush=True)  # noqa: T201
            slow += [ratio.name] if ratio.median >= options.most else []
    if slow:
        print(f"{options.most} times as much or more: {'; '.join(slow)}", file=sys.stderr)  # noqa: T201
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

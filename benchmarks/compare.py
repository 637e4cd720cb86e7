"""Compares this checkout with another commit: `make bench-compare REF=v0.1.0 WHAT="synth prove"`.

Both are measured by their own benchmarks, in an environment of their own, by turns: what else the
machine does slows both. Beside each row there is the time of the processor, which others disturb
least.
"""

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.measure import PROJECT, Result
from benchmarks.results import ROW

TREES = PROJECT / "build" / "compare"
USUAL = ("synth", "watermarks", "job_overhead", "commands", "unit_tests")
OF_HERE = ("PYTHONPATH", "VIRTUAL_ENV", "TIDEMARK_HOME")
ROUNDS = 3  # of each commit
MOST = 1.25  # times as much: from there on a comparison fails
LEAST = 0.1  # rows have two digits after the point: of a smaller number a ratio says nothing
INVERSE = "how many times faster"  # of such a row more is better, and it divides two others


def ratios(
    ref: str, old: Sequence[Mapping[str, float]], new: Sequence[Mapping[str, float]]
) -> list[Result]:
    """Return how many times as much each row is that every round of both commits has.

    Args:
        ref: name of the other commit.
        old: the medians of the other commit by row, for each round.
        new: the medians of this checkout, in the same way.

    Example: ``ratios("v1", [{"a": 2.0}], [{"a": 3.0}])`` has one result, with the ratio 1.5.
    """
    return [
        Result(name, f"git diff {ref}", [b[name] / a[name] for a, b in zip(old, new, strict=True)])
        for name in old[0]
        if all(each.get(name, 0) >= LEAST for each in (*old, *new)) and INVERSE not in name
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
            f"REF is {ref!r}, which this repository does not have; give a tag, a branch or a hash"
        )
    tree = TREES / commit[:12]
    if not tree.is_dir():  # forced: the folder of an earlier one may have been deleted
        add = [*git, "worktree", "add", "--quiet", "--force", "--detach", str(tree), commit]
        subprocess.run(add, check=True)  # noqa: S603
    subprocess.run(["make", "--silent", "setup"], cwd=tree, env=_environment(tree), check=True)  # noqa: S607
    return tree


def measured(tree: Path, name: str) -> dict[str, float]:
    """Run a benchmark of a folder; return its medians by row, and the seconds of the processor."""
    before = sum(os.times()[2:4])  # of processes that have ended
    command = [str(tree / ".venv/bin/python"), "-m", f"benchmarks.{name}"]
    run = subprocess.run(  # noqa: S603 (our own commands)
        command, cwd=tree, env=_environment(tree), stdout=subprocess.PIPE, text=True, check=True
    )
    used = sum(os.times()[2:4]) - before
    return {**rows_of(run.stdout), f"{name}: processor, whole benchmark": used}


def _environment(tree: Path) -> dict[str, str]:
    """Return the variables for a folder, with its own programs and modules alone."""
    kept = {name: value for name, value in os.environ.items() if name not in OF_HERE}
    own = [str(tree / folder) for folder in (".venv/bin", "node_modules/.bin")]
    return {**kept, "PATH": os.pathsep.join([*own, kept["PATH"]])}


def main(arguments: Sequence[str]) -> int:
    """Measure both, print each ratio, and return 1 if a row takes too many times as long."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("ref", help="the other commit: a tag, a branch or a hash")
    parser.add_argument("names", nargs="*", help=f"benchmarks; without one {', '.join(USUAL)}")
    options = parser.parse_args(arguments)
    names = options.names or USUAL
    known = sorted(file.stem for file in Path(__file__).parent.glob("[a-z]*.py"))
    if not set(names) <= set(known):
        parser.error(f"benchmarks are {', '.join(names)}; allowed: {', '.join(known)}")
    other, slow = tree_of(options.ref), list[str]()
    print(f"How many times as much as at {options.ref}:")  # noqa: T201 (a command)
    for name in names:
        turns = [(measured(other, name), measured(PROJECT, name)) for _ in range(ROUNDS)]
        for ratio in ratios(options.ref, *zip(*turns, strict=True)):
            print(ratio.row(), flush=True)  # noqa: T201
            slow += [ratio.name] if statistics.median(ratio.seconds) >= MOST else []
    if slow:
        print(f"{MOST} times as much or more: {'; '.join(slow)}", file=sys.stderr)  # noqa: T201
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

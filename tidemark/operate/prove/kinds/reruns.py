"""A run after a run that went well: with nothing new, with a file again, or after a rewind."""

from pathlib import Path

from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import DATABASES, TABLES
from tidemark.local_state.operations import COPY, PUT
from tidemark.operate.prove.archives import is_archive, is_of_markers, names_files
from tidemark.operate.prove.arrivals import arrive
from tidemark.operate.prove.baselines import Baseline, Wanted
from tidemark.operate.prove.bench import Bench
from tidemark.operate.prove.causes import whys
from tidemark.operate.prove.homes import linked_home, put_databases
from tidemark.operate.prove.items import put_watermarks
from tidemark.operate.prove.judged import TargetRows
from tidemark.operate.prove.kinds.kind import ExperimentKind, last_run
from tidemark.operate.prove.places import data_files, hidden_marks
from tidemark.operate.versions.targets import changed_targets
from tidemark.operate.versions.trial import Trial

AGAIN = "_again"  # ends the name of a file that is delivered a second time


class NothingNew(ExperimentKind):
    """A run with nothing new to read."""

    name = "again"
    title = "a run with nothing new"
    subject = "the next run"
    writes_otherwise = True
    causes = whys(doubled="next-run-reads-again")

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Run once more."""
        home = linked_home(wanted.of.outcome.home, folder)
        return home, [last_run(bench, home, folder)]


class DeliveredTwice(ExperimentKind):
    """The newest file arrives again, under another name."""

    name = "twice"
    title = "a file delivered twice"
    subject = "a second delivery"
    needed_files = 1
    writes_otherwise = True

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Let it arrive behind the file, in the order of names, and run."""
        home = linked_home(wanted.of.outcome.home, folder)
        uri = wanted.of.sources[-1]
        file = home.local_path(uri)
        name, *suffixes = file.name.split(".")
        again = file.with_name(".".join((f"{name}{AGAIN}", *suffixes)))
        arrive(bench.base.local_path(uri), again)
        return home, [last_run(bench, home, folder)]

    def leaves_out(self, baseline: Baseline, target: str) -> bool:
        """An archive has each delivery, and so have markers of what is done."""
        return is_archive(baseline, target) or is_of_markers(baseline, target)

    def is_noted(self, rows: TargetRows) -> bool:
        """A list of what is done has each delivery, too."""
        return names_files(rows, AGAIN)


class Replaced(ExperimentKind):
    """The newest file is overwritten with the same rows."""

    name = "replaced"
    title = "a file overwritten with the same rows"
    subject = "a file that is overwritten"
    needed_files = 1
    writes_otherwise = True

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Overwrite it, and run."""
        home = linked_home(wanted.of.outcome.home, folder)
        uri = wanted.of.sources[-1]
        arrive(bench.base.local_path(uri), home.local_path(uri))
        return home, [last_run(bench, home, folder)]


class Rewound(ExperimentKind):
    """Bookmarks, watermarks and catalog are taken back to before the run, as by a rewind."""

    name = "rewind"
    title = "rewound with --clear, and run again"
    subject = "a rewind"
    causes = whys(lost="gone-for-rewind")

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Take back what `tidemark rewind --clear` does, and run."""
        # Other tables of DynamoDB stay, as embedded databases do: a rewind does not know them.
        home = linked_home(wanted.of.outcome.home, folder)
        put_databases(bench.base, home, [name for name in DATABASES if name != TABLES])
        if (home.root / TABLES).is_file():
            put_watermarks(bench.base, home)
        _clear(bench.base, home, wanted.of)
        return home, [last_run(bench, home, folder)]


def _clear(base: Home, home: Home, run: Baseline) -> None:
    """Remove what a run has put into folders to which it has only added files."""
    marks = hidden_marks(run.outcome.home)  # a rewind does not know these
    before, after = data_files(base, marks), data_files(home, marks)
    cleared = tuple(
        f"s3://{folder}"
        for folder in (f"{target.folder}/" for target in changed_targets(before, after))
        if all(after.get(path) == before[path] for path in before if path.startswith(folder))
    )
    for operation in run.operations:
        place = operation.places[-1]
        if operation.kind in (PUT, COPY) and place.startswith(cleared) and place not in marks:
            file = home.local_path(place)
            file.unlink(missing_ok=True)
            emptied = file.parent  # the buckets stay
            while emptied.parent != home.lake and emptied.is_dir() and not any(emptied.iterdir()):
                emptied.rmdir()
                emptied = emptied.parent

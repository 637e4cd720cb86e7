"""A request of a run that fails, whatever the job makes of it, and the next run."""

from collections.abc import Sequence
from pathlib import Path

from tidemark.local_state.home import Home
from tidemark.local_state.operations import (
    DELETE,
    HALF_DONE,
    ITEMS,
    REQUEST,
    UNANSWERED,
    AwsRead,
    Operation,
    has_failed,
    let_fail_once,
    record_operations,
)
from tidemark.local_state.reads import OPENS
from tidemark.operate.prove.baselines import Wanted
from tidemark.operate.prove.bench import Bench
from tidemark.operate.prove.causes import Cause, Fault, at, of_target, why, whys
from tidemark.operate.prove.changes import is_state, is_write, place_of
from tidemark.operate.prove.crash_causes import of_crash
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.homes import home_after
from tidemark.operate.prove.kinds.kind import ExperimentKind
from tidemark.operate.prove.refusals import ERROR
from tidemark.operate.versions.trial import Trial

LEFT_UNDONE = why("left-undone")


class FailingRequest(ExperimentKind):
    """A request fails: it is refused, done without an answer, or done by half."""

    name = ERROR
    title = "requests that fail"
    subject = "a request that fails"
    is_of_changes = True
    needs_parts = True
    causes = whys(lost="commits-after-failure")

    def carry_out(self, bench: Bench, wanted: Wanted, folder: Path) -> tuple[Home, list[Trial]]:
        """Run from what earlier jobs have left, and let the request fail."""
        run, experiment = wanted.of, wanted.experiment
        failing, request = experiment.operation, experiment.request
        if failing is not None:
            run_id, numbers = failing.run_id, numbers_of(run.operations, failing.run_id)
            number = numbers.index(failing.number) + 1
        else:
            assert request is not None  # noqa: S101 (of each error)
            run_id, numbers = request.run_id, numbers_of(run.operations, request.run_id)
            own = [read for read in run.requests if read.run_id == run_id]
            number = own.index(request) + 1 if request.number else 0
            numbers = numbers or [own[0].done + 1]
        done = [change for change in run.operations if change.number < numbers[0]]
        home = home_after(run.base, run.outcome.home, done, folder)
        record_operations(home)
        made_by = failing.places[0] if failing and failing.kind in (REQUEST, ITEMS) else ""
        if request and not request.number:
            made_by = " ".join((request.place.removeprefix(OPENS), *request.calls))
        of_requests = request is not None
        let_fail_once(home, number, experiment.how, of_requests=of_requests, what=made_by)
        job = run.jobs.get(run_id)
        return home, [bench.run(home, bench.subject.only(job) if job else None)]

    def next_jobs(self, wanted: Wanted, trials: Sequence[Trial]) -> Sequence[str | None]:
        """The job runs again, and those after it."""
        return wanted.of.jobs_from(wanted.of.job_of(wanted.experiment))

    def why_unknown(self, wanted: Wanted, home: Home) -> str:
        """A run may go another way than the first one."""
        return "" if has_failed(home) else "the run did not make this request again"

    def cause(self, fault: Fault) -> Cause:
        """An error that ends the run leaves what a crash there leaves."""
        if fault.verdict == "fails":
            return super().cause(fault)
        failing, request = fault.experiment.operation, fault.experiment.request
        is_changed = fault.verdict == "changed" and not fault.has_ended
        if fault.experiment.how == HALF_DONE and (fault.verdict == "lost" or is_changed):
            return at(failing, *LEFT_UNDONE) if failing else _at_read(request, *LEFT_UNDONE)
        if fault.experiment.how == HALF_DONE and failing and failing.kind == DELETE:
            return at(failing, *LEFT_UNDONE)
        if fault.verdict == "lost" and fault.noted:
            return _of_note(fault.experiment, fault.noted)
        if fault.has_ended:
            return of_crash(fault, _moment(fault))
        if fault.verdict != "lost" and request:
            place = next(reversed(request.calls), request.place)
            return _at_read(request, *why("read-failure-ignored", failing=place))
        return super().cause(fault)


def _of_note(error: Experiment, noted: Operation) -> Cause:
    """Return the cause of a note that a run makes after a request that has failed."""
    request, failed = error.request, error.operation
    calls = request.calls[-1:] if request else [place_of(failed)] if failed else ()
    failing = next(iter(calls), "a request")
    return at(noted, *why("notes-after-failure", place=place_of(noted), failing=failing))


def _at_read(request: AwsRead | None, text: str, remedy: str) -> Cause:
    script, _, line = next(reversed(request.calls if request else ()), "").rpartition(" line ")
    return Cause(text, remedy, script, int(line) if line.isdigit() else None)


def numbers_of(made: Sequence[Operation] | Sequence[AwsRead], run_id: str) -> list[int]:
    """Return the numbers of what a run has done."""
    return [operation.number for operation in made if operation.run_id == run_id]


def _moment(fault: Fault) -> int:
    """Return the last change before a crash that leaves what a request that failed has left."""
    # Rows are lost by what was noted or written before it. Else other tasks of its line, or other
    # threads, have written.
    experiment, operations = fault.experiment, fault.operations
    failing = experiment.operation
    if experiment.how == UNANSWERED:
        return experiment.after
    before = [change for change in operations if change.number < experiment.after]
    of_note = any(is_state(change) for change in operations if change.number == experiment.after)
    if before and of_note:
        return before[-1].number
    if fault.verdict == "lost" and any(is_write(change) or is_state(change) for change in before):
        return before[-1].number
    same = (change for change in operations if failing and place_of(change) == place_of(failing))
    numbers = [change.number for change in same] or [experiment.after]
    written = of_target(fault)
    if fault.verdict != "lost" and written and not any(map(is_write, before)):
        numbers.append(written.number)
    return max(numbers)

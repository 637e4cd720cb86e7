"""Decides whether a job run would find nothing new, and need not start: plain data.

A job opts in with its argument `--skip_if_nothing_new`, whose value is the datasets that are
its inputs. Any doubt is a reason to run.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tidemark.model.assembly.definitions import ENABLE

ARGUMENT = "--skip_if_nothing_new"
OFF = "off"  # a start with this value always runs the job
# Different in every run of a workflow.
RUN_ARGUMENTS = ("--WORKFLOW_NAME", "--WORKFLOW_RUN_ID")


@dataclass(frozen=True)
class Inputs:
    """The inputs of a run before it starts.

    Attributes:
        datasets: by URI of a declared input, a digest of its files.
        arguments: arguments of the run, without those that differ in every run.
        code: SHA-256 of the script and of each file that ships with it, by URI.
    """

    datasets: Mapping[str, str]
    arguments: Mapping[str, str]
    code: Mapping[str, str]


@dataclass(frozen=True)
class LastRun:
    """The newest run of a job that was not skipped.

    Attributes:
        state: its final state, or RUNNING and the like.
        inputs: its inputs; None if unknown.
        is_in_force: whether the current bookmark is the one that it committed.
        read: the datasets that it has read.
        doubts: why the next run might find something anyway, each in words.
    """

    state: str
    inputs: Inputs | None
    is_in_force: bool
    read: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def declared_inputs(arguments: Mapping[str, str]) -> tuple[str, ...]:
    """Return the datasets that allow a skip; empty if the job does not opt in."""
    value = arguments.get(ARGUMENT, OFF)
    return () if value == OFF else tuple(uri.strip() for uri in value.split(",") if uri.strip())


def own_arguments(arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments of a run without those that differ in every run."""
    return {name: value for name, value in arguments.items() if name not in RUN_ARGUMENTS}


def reason_to_run(option: str, last: LastRun | None, now: Inputs) -> str:
    """Return why a job must run, in words; empty if its run would find nothing new."""
    if option != ENABLE:
        return f"its bookmark option is {option}, and only {ENABLE} records what is new"
    if last is None:
        return "it has never run"
    if last.state != "SUCCEEDED":
        return f"its last run is {last.state}"
    if not last.is_in_force:
        return "its bookmark is not the one that its last run committed"
    if last.inputs is None:
        return "the inputs of its last run are unknown"
    changed = _changed(last.inputs, now)
    undeclared = [dataset for dataset in last.read if not _is_in(dataset, now.datasets)]
    if not changed and undeclared:
        return f"it reads {undeclared[0]}, which is not one of its declared inputs"
    if not changed and not last.read:
        return "the reads of its last run are unknown"
    return changed or next(iter(last.doubts), "")


def _changed(before: Inputs, now: Inputs) -> str:
    if before.code != now.code:
        return "its code has changed"
    if before.arguments != now.arguments:
        return "its arguments have changed"
    for uri in now.datasets:
        if before.datasets.get(uri) != now.datasets[uri]:
            return f"{uri} has changed"
    return ""


def _is_in(dataset: str, declared: Iterable[str]) -> bool:
    return any(f"{dataset.rstrip('/')}/".startswith(f"{uri.rstrip('/')}/") for uri in declared)

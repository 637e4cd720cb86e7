"""Decides whether a job run would find nothing new, and need not be started: plain data.

A job asks for that by its argument `--skip_if_nothing_new`, whose value is the datasets that are
its inputs. Any doubt is a reason to run.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tidemark.model.assembly.arguments import ENABLE

ARGUMENT = "--skip_if_nothing_new"
OFF = "off"  # a start with this value runs the job
# Every run of a workflow has its own.
OF_ONE_RUN = ("--WORKFLOW_NAME", "--WORKFLOW_RUN_ID")


@dataclass(frozen=True)
class Inputs:
    """What a run finds before it starts.

    Attributes:
        datasets: by URI of a declared input, a digest of the files that it has.
        arguments: of the run, without those that every run has of its own.
        code: SHA-256 of the script and of each file that ships with it, by URI.
    """

    datasets: Mapping[str, str]
    arguments: Mapping[str, str]
    code: Mapping[str, str]


@dataclass(frozen=True)
class LastRun:
    """The newest run of a job that was not skipped.

    Attributes:
        state: how it ended, or RUNNING and the like.
        inputs: what it found; None if that is not known.
        is_in_force: whether the bookmark in force is the one that it committed.
        read: the datasets that it has read.
        doubts: why the next run might find something all the same, each in words.
    """

    state: str
    inputs: Inputs | None
    is_in_force: bool
    read: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def declared_inputs(arguments: Mapping[str, str]) -> tuple[str, ...]:
    """Return the datasets that a run may be skipped by; none where its job does not ask for it."""
    value = arguments.get(ARGUMENT, OFF)
    return () if value == OFF else tuple(uri.strip() for uri in value.split(",") if uri.strip())


def own_arguments(arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments of a run without those that every run has of its own."""
    return {name: value for name, value in arguments.items() if name not in OF_ONE_RUN}


def reason_to_run(option: str, last: LastRun | None, now: Inputs) -> str:
    """Return why a job must run, in words; empty if its run would find nothing new."""
    if option != ENABLE:
        return f"its bookmark option is {option}, and only with {ENABLE} it is known what is new"
    if last is None:
        return "it has never run"
    if last.state != "SUCCEEDED":
        return f"its last run is {last.state}"
    if not last.is_in_force:
        return "its bookmark is not the one that its last run committed"
    if last.inputs is None:
        return "what its last run found is not known"
    changed = _changed(last.inputs, now)
    undeclared = [dataset for dataset in last.read if not _is_in(dataset, now.datasets)]
    if not changed and undeclared:
        return f"it reads {undeclared[0]}, which is not one of its declared inputs"
    if not changed and not last.read:
        return "what its last run read is not known"
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

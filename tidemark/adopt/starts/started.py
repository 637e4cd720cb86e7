"""The options of a trigger for the runs of a job, as fields of `ActionOptions`."""

from collections.abc import Iterable, Mapping

from tidemark.adopt.jobs.job import BOOKMARKS, is_open, refusal
from tidemark.adopt.model import KeyPath, Resource
from tidemark.adopt.reading import Reading
from tidemark.model.assembly.definitions import DISABLE, ENABLE, PAUSE

MAX_MINUTES = 10_080  # as ActionOptions checks it: a test compares
OPTION = "--job-bookmark-option"
IN_BOOKMARK = ("the job says it now, in bookmark=", "nothing, if nothing else starts it")


def bookmark_of_runs(triggers: Iterable[Resource], job: Reading) -> str | None:
    """Return the bookmark option that triggers add to the runs of a job; None if none does.

    Where they differ, it is the one that keeps most: lost data cannot be had again.
    """
    options = {
        (action.get("Arguments") or {}).get(OPTION)
        for trigger in triggers
        for action in trigger.get("Actions") or []
        if action.get("JobName") == job.get("Name")
    }
    if unresolved := next(filter(is_open, options), None):
        return str(unresolved)
    if not options & {*BOOKMARKS}:
        return None
    default = job.get("DefaultArguments", OPTION)
    effective = {default if option is None else option for option in options}
    return next(option for option in (ENABLE, PAUSE, DISABLE) if option in effective)


def started_of(trigger: Reading, number: str, timeout_minutes: int | None) -> dict[str, object]:
    """Return the options of an action of a trigger, and account for it."""
    fields: dict[str, object] = {}
    if arguments := _arguments(trigger, ("Actions", number, "Arguments")):
        fields["arguments"] = arguments
    by_hand = "set it in started=ActionOptions(...) of the job"
    path: KeyPath = ("Actions", number, "Timeout")
    minutes = trigger.get(*path)
    if _is_minutes(minutes):
        fields["timeout_minutes"] = timeout_minutes = int(trigger.take(*path))
    elif minutes is not None:
        trigger.differ(*path, why=f"a timeout is from 1 to {MAX_MINUTES:,} minutes", do=by_hand)
    path = ("Actions", number, "NotificationProperty", "NotifyDelayAfter")
    minutes = trigger.get(*path)
    if _is_minutes(minutes) and (timeout_minutes is None or minutes < timeout_minutes):
        fields["notify_after_minutes"] = int(trigger.take(*path))
    elif minutes is not None:
        why = f"Glue reports a long run before it ends, after {timeout_minutes} minutes"
        trigger.differ(*path, why=why, do=by_hand)
    return fields


def _arguments(trigger: Reading, path: tuple[str, ...]) -> dict[str, str]:
    """Return the arguments of the script; those that cannot be declared are listed."""
    given = trigger.get(*path)
    if not isinstance(given, Mapping):
        return {}
    if not given:
        trigger.take(*path)
    arguments = {}
    for name, value in given.items():
        if reason := IN_BOOKMARK if name == OPTION else refusal(name, value):
            trigger.differ_for(reason, *path, name)
        else:
            arguments[name.removeprefix("--")] = str(trigger.take(*path, name))
    return arguments


def _is_minutes(value: object) -> bool:
    return type(value) is int and 1 <= value <= MAX_MINUTES

"""Translates the settings of a job for `JobOptions`, and what no run may override: pure.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-job.html (Job,
NonOverridableArguments: Glue passes them to every run, whatever else is set)
"""

import re

from tidemark.adopt.model import Resource
from tidemark.adopt.reading import Reading
from tidemark.model.assembly.glue_arguments import GLUE_ARGUMENTS
from tidemark.model.plain_secrets import shows_secret
from tidemark.model.stage.settings import TAG_NAME, TAG_VALUE

DEFAULTS, FIXED = "DefaultArguments", "NonOverridableArguments"
# What Glue, or the toolkit, reads of a job; the others are arguments of its script.
READ_BY_NAME = {*GLUE_ARGUMENTS, "--watermark_table", "--checkpoint"}
NEVER_SEEN = "no run ever sees it: the same argument cannot be overridden"


def reading_of(name: str, resource: Resource) -> Reading:
    """Return a job; its arguments that Glue reads by name are read with its defaults."""
    job = Reading(f"job {name}", resource)
    for argument in job.get(FIXED) or {}:
        if argument in READ_BY_NAME:
            if job.get(DEFAULTS, argument) is not None:
                job.differ(DEFAULTS, argument, why=NEVER_SEEN, do="nothing")
            job.move((FIXED, argument), (DEFAULTS, argument))
    return job


def still_fixed(job: Reading, bookmark: str) -> list[str]:
    """Return the arguments read by name that no run may override from now on either."""
    names = []
    for name in job.get(FIXED) or {}:
        if name not in READ_BY_NAME or (FIXED, name) not in job.expressed:
            continue
        if name == "--job-bookmark-option" and bookmark == "PAUSE":
            why = "the run that creates the new bookmark enables it, so runs may change it"
            do = f'after that run set non_overridable=["{name}"] in options='
            job.differ(FIXED, name, why=why, do=do)
        else:
            own = name in ("--watermark_table", "--checkpoint")
            names.append(name.removeprefix("--") if own else name)
    return names


# As the constructs check them, which start Node when they are imported.
DESCRIPTION = re.compile(r"(?=.*\S)[^\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]+", re.DOTALL)
MAX_BYTES = 2_048  # of a description
MAX_RUNS = 4_000
OPTION = re.compile(r"-(?!\d+$|\d*\.\d+$)")
SKIP_ARGUMENTS = {"--skip_if_nothing_new", "--nothing_new_table"}
RESERVED = {*GLUE_ARGUMENTS, "--watermark_table", *SKIP_ARGUMENTS, "--help", "--h"}


def description_of(resource: Reading) -> dict[str, object]:
    """Return the description of a job or crawler, where the constructs take it, as a field."""
    text = resource.get("Description")
    if not (isinstance(text, str) and DESCRIPTION.fullmatch(text)):
        return {}
    is_short = len(text.encode()) <= MAX_BYTES
    return {"description": resource.take("Description")} if is_short else {}


def tags_of(resource: Reading, *, may_be_empty: bool = True) -> dict[str, object]:
    """Return the tags that the constructs take of a job or crawler, as a field."""
    tags = {
        name: resource.take("Tags", name)
        for name, value in (resource.get("Tags") or {}).items()
        if TAG_NAME.fullmatch(name) and TAG_VALUE.fullmatch(str(value)) and (value or may_be_empty)
    }
    return {"tags": tags} if tags else {}


def options_of(job: Reading, timeout_minutes: int | None, *, has_state: bool) -> dict[str, object]:
    """Return the fields of `JobOptions` that are not the default, and account for them."""
    fields = description_of(job)
    fields |= tags_of(job)
    runs = job.get("ExecutionProperty", "MaxConcurrentRuns")
    if isinstance(runs, int) and (runs == 1 or (1 < runs <= MAX_RUNS and not has_state)):
        job.take("ExecutionProperty", "MaxConcurrentRuns")
        fields |= {"max_concurrent_runs": runs} if runs > 1 else {}
    minutes, timeout = job.get("NotificationProperty", "NotifyDelayAfter"), timeout_minutes or 0
    half = max(1, timeout // 2)
    if timeout and isinstance(minutes, int) and (minutes == half or 1 <= minutes < timeout):
        job.take("NotificationProperty", "NotifyDelayAfter")
        fields |= {"notify_after_minutes": minutes} if minutes != half else {}
    return fields


def fixed_arguments_of(job: Reading, arguments: dict[str, str]) -> list[str]:
    """Move arguments that no run may override into those of the script; return their names."""
    names = []
    for name, value in (job.get("NonOverridableArguments") or {}).items():
        if name in READ_BY_NAME:
            continue
        bare = name.removeprefix("--")
        is_taken = bare not in arguments and job.get("DefaultArguments", name) is not None
        is_plain = re.fullmatch(r"--[A-Za-z]\w*", name, re.ASCII) and name not in RESERVED
        if not is_plain or is_taken or not is_value(name, value):
            continue
        if bare in arguments:
            job.differ("DefaultArguments", name, why=NEVER_SEEN, do="nothing")
        arguments[bare] = str(job.take("NonOverridableArguments", name))
        names.append(bare)
    return names


def is_value(name: str, value: object) -> bool:
    """Return whether `arguments=` takes a value: no secret, and nothing like an option."""
    is_string = isinstance(value, str) and bool(value) and not OPTION.match(value)
    return is_string and not shows_secret(name.lstrip("-"), str(value))

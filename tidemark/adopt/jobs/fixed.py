"""Arguments that no run may override: Glue passes them to every run, whatever else is set: pure.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-job.html (Job,
NonOverridableArguments)
"""

from tidemark.adopt.model import Resource
from tidemark.adopt.reading import Reading
from tidemark.model.assembly.glue_arguments import GLUE_ARGUMENTS

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
    """Return which of these arguments no run may override from now on either."""
    names = []
    for name in job.get(FIXED) or {}:
        if name not in READ_BY_NAME or (FIXED, name) not in job.expressed:
            continue
        if name == "--job-bookmark-option" and bookmark == "PAUSE":
            job.differ(
                FIXED,
                name,
                why="the run that creates the new bookmark enables it, so runs may change it",
                do=f'after that run set non_overridable=["{name}"] in options=',
            )
        else:
            own = name in ("--watermark_table", "--checkpoint")
            names.append(name.removeprefix("--") if own else name)
    return names

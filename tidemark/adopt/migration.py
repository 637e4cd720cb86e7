"""The steps by which a pipeline takes over from older jobs: pure, on plain data.

Old and new never write the same data at the same time: nothing starts the new jobs until nothing
starts the old ones, and the run that makes a bookmark writes elsewhere.

Sources: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuations.html (a bookmark is kept
by the name of its job, and deleted with it), https://docs.aws.amazon.com/AWSCloudFormation/latest/
UserGuide/resource-import-supported-resources.html (of Glue only registries and schemas can be
imported, as of 2024: https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/2045).
"""

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidemark.adopt.data import flags_of
from tidemark.adopt.model import AdoptedJob, Adoption, Found

BEFORE = "before"  # the folder in which the old state is recorded


@dataclass(frozen=True)
class Step:
    """One step of a migration.

    Attributes:
        title: what is done.
        why: why, and why now.
        commands: what to run, or to do by hand where a line begins with `#`.
        check: what shows that it worked; go on only then.
        rollback: how to undo it.
    """

    title: str
    why: str
    commands: tuple[str, ...]
    check: tuple[str, ...]
    rollback: tuple[str, ...]


def steps_of(adoption: Adoption, found: Found, stack_file: str) -> list[Step]:
    """Return the steps, in their order.

    Args:
        adoption: the pipeline.
        found: what was read of the old jobs.
        stack_file: path of the stack in the project.
    """
    stateful = [job for job in adoption.jobs if has_bookmark(job, found)]
    scratched = [job for job in stateful if overrides(job)]
    return [
        *_fetch(adoption, found),
        _review(adoption, stack_file),
        _record(adoption, found),
        _deploy(adoption),
        *(_hold(adoption, stateful) if stateful else ()),
        _last_run(adoption, stateful),
        _stop(adoption, found),
        *(_scratch(adoption, job) for job in scratched),
        *(_decide(job) for job in stateful if job not in scratched),
        *(_watermarks(job) for job in adoption.jobs if job.watermark_table),
        _start(adoption),
        _delete(adoption, found),
    ]


def has_bookmark(job: AdoptedJob, found: Found) -> bool:
    """Return whether a job has, or may have, a bookmark that the new one has to get."""
    return job.bookmark != "DISABLE" and found.bookmarks.get(job.old, {}) is not None


def overrides(job: AdoptedJob) -> dict[str, str]:
    """Return the arguments of a run that makes a bookmark and writes elsewhere; none if unknown."""
    outputs = [name for name, _ in job.writes if name]
    if not job.scratch or not outputs or job.writes_elsewhere:
        return {}
    changed = {f"--{name}": f"{job.scratch.uri}{name}/" for name in outputs}
    if job.bookmark == "PAUSE":
        changed["--job-bookmark-option"] = "job-bookmark-enable"
    return changed


def reached(adoption: Adoption) -> list[AdoptedJob]:
    """Return the jobs that run when every job succeeds."""
    found: dict[str, AdoptedJob] = {}
    for job in adoption.jobs:
        conditions = job.wait.conditions if job.wait else ()
        met = [old in found and state == "SUCCEEDED" for old, state in conditions]
        if job.wait is None or (any(met) if job.wait.logical == "ANY" else all(met)):
            found[job.old] = job
    return list(found.values())


def _fetch(adoption: Adoption, found: Found) -> Iterator[Step]:
    missing = [job for job in adoption.jobs if job.old not in found.scripts]
    if not missing:
        return
    yield Step(
        "Fetch the scripts that could not be read",
        "The app is not synthesized without them.",
        tuple(
            f"aws s3 cp {shlex.quote(job.script_location)} {job.script}"
            if job.script_location
            else f"# write {job.script}: the job {job.old} names no script"
            for job in missing
        ),
        tuple(f"python -m py_compile {job.script}" for job in missing),
        tuple(f"rm {job.script}" for job in missing),
    )


def _review(adoption: Adoption, stack_file: str) -> Step:
    return Step(
        "Put the stack into the app, and see that it is right",
        "Everything under What is guessed and What is different is checked before anything is "
        "deployed. Synthesis deploys nothing.",
        (
            *(f"# in app.py: {line}" for line in in_app(adoption, stack_file)),
            "tidemark lint",
            f"npx cdk synth -q {stack_name(adoption)}",
        ),
        (
            "# tidemark lint finds no error, and cdk synth ends without one",
            f"# {stack_file} says of every guess below what you found out",
        ),
        ("# take the stack out of app.py",),
    )


def stack_name(adoption: Adoption) -> str:
    """Return the stack as the CDK is told it; its stage is in the environment."""
    return f'"*-{adoption.name}" -c stage=$STAGE'


def in_app(adoption: Adoption, stack_file: str) -> tuple[str, str]:
    """Return the lines of app.py that make the stack: what it imports, and the call."""
    title = "".join(word.capitalize() for word in adoption.name.split("-"))
    module = stack_file.removesuffix(".py").replace("/", ".")
    return (
        f"from {module} import {title}Stack",
        f'{title}Stack(app, stage.name_of("{adoption.name}"), stage=stage, root=ROOT, env=env)',
    )


def _record(adoption: Adoption, found: Found) -> Step:
    commands = [f"mkdir -p {BEFORE}"]
    for job in adoption.jobs:
        old, file = shlex.quote(job.old), f"{BEFORE}/{job.name}"
        commands.append(f"aws glue get-job --job-name {old} > {file}.job.json")
        if has_bookmark(job, found):
            commands.append(f"aws glue get-job-bookmark --job-name {old} > {file}.bookmark.json")
    commands += [
        f"aws glue get-trigger --name {shlex.quote(name)} > {BEFORE}/trigger-{number}.json"
        for number, name in enumerate((*adoption.start_triggers, *adoption.other_triggers))
    ]
    return Step(
        "Record what there is",
        "To compare with, and to make it again. A bookmark cannot be put back from the file: no "
        "API writes one.",
        tuple(commands),
        (f"ls -l {BEFORE}", "# no file is empty"),
        (f"rm -r {BEFORE}",),
    )


def _deploy(adoption: Adoption) -> Step:
    return Step(
        "Deploy the new pipeline; nothing starts it",
        "The jobs have other names, so both exist. The start trigger of a pipeline is ON_DEMAND.",
        (
            '# in cdk.json, let "schedule" of the stage be null, if no other pipeline needs it',
            f"npx cdk deploy {stack_name(adoption)}",
        ),
        (
            f"aws glue get-workflow --name {adoption.name} --query Workflow.LastRun",
            "# null: it never ran",
        ),
        (f"npx cdk destroy {stack_name(adoption)}",),
    )


def _hold(adoption: Adoption, stateful: Sequence[AdoptedJob]) -> Iterator[Step]:
    yield Step(
        "Hold back what is delivered to the sources",
        "Of what arrives between the last old run and the run that makes the new bookmark no run "
        "would know whose it is: it would be lost. Deliveries wait until the new pipeline runs.",
        (
            f"# stop what writes to the sources of {', '.join(job.old for job in stateful)}",
            "date -u +%Y-%m-%dT%H:%M:%SZ | tee held-since",
        ),
        (*_late(adoption, stateful), "# null, and no new rows in databases"),
        ("# let deliveries go on", "rm held-since"),
    )


def _late(adoption: Adoption, jobs: Sequence[AdoptedJob]) -> list[str]:
    """Return what lists the objects that others delivered to jobs since deliveries are held."""
    flags = flags_of(adoption.jobs)
    places = dict.fromkeys(place for job in jobs for _, place in job.reads if flags[place][0])
    return [
        f"aws s3api list-objects-v2 --bucket {place.bucket} --prefix {place.prefix} "
        "--query \"Contents[?LastModified>='$(cat held-since)'].Key\""
        for place in places
    ]


def _last_run(adoption: Adoption, stateful: Sequence[AdoptedJob]) -> Step:
    start = f"aws glue start-workflow-run --name {shlex.quote(adoption.old_workflow or '')}"
    if not adoption.old_workflow:
        start = f"# start {', '.join(job.old for job in adoption.jobs)} as they always start"
    return Step(
        "Let the old jobs run a last time",
        "They process everything that was delivered until now. Start them as always, or wait for "
        "their schedule.",
        (start,),
        (
            *(
                f"aws glue get-job-runs --job-name {shlex.quote(job.old)} --max-items 1 "
                "--query 'JobRuns[0].[StartedOn,JobRunState]'"
                for job in reached(adoption)
            ),
            "# each began after the deliveries were held, and SUCCEEDED"
            if stateful
            else "# each SUCCEEDED",
        ),
        ("# nothing: it was a run as any other",),
    )


def _stop(adoption: Adoption, found: Found) -> Step:
    commands, back = [], []
    for name in adoption.start_triggers:
        kind = found.triggers[name].get("Type")
        quoted = shlex.quote(name)
        if kind == "ON_DEMAND":
            commands.append(f"# {name} is ON_DEMAND: see that no one calls StartTrigger for it")
            continue
        commands.append(f"aws glue stop-trigger --name {quoted}")
        back.append(f"aws glue start-trigger --name {quoted}")
    commands += _callers(adoption)
    if found.is_terraform and adoption.start_triggers:
        commands.insert(0, "# in Terraform, set enabled = false in these aws_glue_trigger, or the "
                           "next apply starts them again")  # fmt: skip
    return Step(
        "Stop everything that starts the old jobs",
        "From here on nothing writes the targets until the new pipeline does."
        + _remaining(adoption),
        tuple(commands),
        (
            *(
                f"aws glue get-trigger --name {shlex.quote(name)} --query Trigger.State"
                for name in adoption.start_triggers
            ),
            *(
                f"aws glue get-job-runs --job-name {shlex.quote(job.old)} --query "
                "\"JobRuns[?JobRunState=='RUNNING' || JobRunState=='STARTING' || "
                "JobRunState=='WAITING'].Id\""
                for job in adoption.jobs
            ),
            "# DEACTIVATED (CREATED of an ON_DEMAND trigger), and no run",
        ),
        tuple(back) or ("# let the callers start the old jobs again",),
    )


def _callers(adoption: Adoption) -> list[str]:
    names = ", ".join(job.old for job in adoption.jobs)
    found = [
        "aws cloudtrail lookup-events --lookup-attributes "
        f"AttributeKey=EventName,AttributeValue={event} --max-items 50 "
        "--query 'Events[].[EventTime,Username]'"
        for event in ("StartJobRun", "StartWorkflowRun")
    ]
    return [*found, f"# stop whoever else starts {names}: Step Functions, Airflow, rules, people"]


def _remaining(adoption: Adoption) -> str:
    if not adoption.left_out:
        return ""
    names = ", ".join(one.job for one in adoption.left_out)
    return (
        f" Nothing starts {names} any more either, as far as these triggers did: see Not adopted."
    )


def _scratch(adoption: Adoption, job: AdoptedJob) -> Step:
    place = job.scratch.uri if job.scratch else ""
    outputs = ", ".join(name for name, _ in job.writes)
    arguments = shlex.quote(json.dumps(overrides(job)))
    run = f"aws glue start-job-run --job-name {job.name} --arguments {arguments}"
    reset = f"aws glue reset-job-bookmark --job-name {job.name}"
    late = _late(adoption, [job])
    if late:
        late.append(
            "# null; what came all the same is read by the next run once it is copied onto itself: "
            "aws s3 cp URI URI --metadata-directive REPLACE"
        )
    aside = ""
    if job.bookmark == "PAUSE":
        aside = " The job pauses its bookmark, so this one run enables it."
    return Step(
        f"Make the bookmark of {job.name}, writing elsewhere",
        f"One run reads everything that {job.old} has read until now and writes it to {place}; "
        "its commit stores how far it has read. --job-bookmark-from and -to cannot do this: they "
        f"take ids of runs of the job itself. It costs one full read.{aside}",
        (
            f"# read {job.script}: unless it writes below {outputs} only, do not run this; let it "
            "take its other targets as arguments too, or decide that it reads everything again",
            run,
        ),
        (
            f"aws glue get-job-runs --job-name {job.name} --max-items 1 --query "
            "'JobRuns[0].[StartedOn,JobRunState]'",
            f"aws glue get-job-bookmark --job-name {job.name} --query JobBookmarkEntry.JobBookmark",
            f"aws s3 ls --recursive --summarize {place} | tail -2",
            "# SUCCEEDED; a bookmark; as much as the old job wrote in all, if it appends",
            *late,
        ),
        (reset, f"aws s3 rm --recursive {place}"),
    )


def _decide(job: AdoptedJob) -> Step:
    return Step(
        f"Decide how {job.name} begins",
        f"{job.old} may have a bookmark, and it writes to what no argument names, so no run can "
        "make the new bookmark elsewhere. Its first run reads everything again.",
        (
            "# if it replaces or merges into its target: nothing to do",
            "# if it appends: stop here. Let the script take its target as an argument, deploy, "
            "and make the bookmark with a run that writes to a folder of temp=: "
            f"aws glue start-job-run --job-name {job.name} --arguments "
            '\'{"--target_path": "s3://..."}\'',
        ),
        ("# the target holds nothing twice after its first run (step Start)",),
        (f"aws glue reset-job-bookmark --job-name {job.name}",),
    )


def _watermarks(job: AdoptedJob) -> Step:
    table = json.dumps(job.watermark_table)

    def rename(old: str, new: str) -> str:
        code = (
            "from watermarks import WatermarkAdmin; "
            f"print(WatermarkAdmin({table}).rename_job({json.dumps(old)}, {json.dumps(new)}))"
        )
        return f"python -c {shlex.quote(code)}"

    return Step(
        f"Carry the watermarks over to {job.name}",
        "Watermarks are kept by the name of the job. They move in one transaction; from then on "
        "the old name is refused.",
        (rename(job.old, job.name),),
        (f"tidemark watermark show {job.name} --deployed --table {job.watermark_table}",),
        (rename(job.name, job.old),),
    )


def _start(adoption: Adoption) -> Step:
    commands = [f"aws glue start-workflow-run --name {adoption.name}", "# let deliveries go on"]
    if adoption.schedules:
        crons = ", ".join(adoption.schedules)
        commands.append(f'# after that run, set "schedule" of the stage in cdk.json: {crons} (UTC)')
        commands.append(f"npx cdk deploy {stack_name(adoption)}")
    back = [
        f'# stop the new pipeline: set "schedule" to null, npx cdk deploy {stack_name(adoption)}',
        "# what the new jobs processed the old bookmarks do not know: before the old triggers "
        "start again, let each old job with a bookmark run once with its target elsewhere",
    ]
    back += [
        f"aws glue start-job-run --job-name {shlex.quote(job.old)} --arguments "
        + shlex.quote(json.dumps(overrides(job)))
        for job in adoption.jobs
        if overrides(job)
    ]
    return Step(
        "Start the new pipeline",
        "Nothing starts the old jobs, and none runs: the new ones are the only writers now.",
        tuple(commands),
        (
            f"aws glue get-workflow --name {adoption.name} "
            "--query Workflow.LastRun.[Status,Statistics]",
            "# COMPLETED, no failed action; the targets hold what is new, and nothing twice",
        ),
        tuple(back),
    )


def _delete(adoption: Adoption, found: Found) -> Step:
    names = [shlex.quote(job.old) for job in adoption.jobs]
    left = bool(adoption.left_out)
    triggers = () if left else (*adoption.start_triggers, *adoption.other_triggers)
    commands = [
        *(f"aws glue delete-trigger --name {shlex.quote(name)}" for name in triggers),
        *(f"aws glue delete-job --job-name {name}" for name in names),
    ]
    if adoption.old_workflow and not left:
        commands.append(f"aws glue delete-workflow --name {shlex.quote(adoption.old_workflow)}")
    if found.is_terraform:
        commands = ["# take their resources out of the Terraform configuration", "terraform apply"]
    return Step(
        "Delete the old jobs, weeks later",
        "Until here there is a way back. AWS deletes a bookmark with its job. What a stack of "
        "CloudFormation made is deleted there, not by these commands.",
        tuple(commands),
        tuple(f"aws glue get-job --job-name {name}  # EntityNotFoundException" for name in names),
        (f"# make them again from {BEFORE}/; their bookmarks are gone",),
    )

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

from tidemark.adopt.model import AdoptedJob, Adoption, Found, Node, Step
from tidemark.adopt.plan.carrying import (
    decision,
    first_crawl,
    has_bookmark,
    late_objects,
    overrides,
    rename_watermarks,
    scratch_run,
)

BEFORE = "before"  # the folder in which the old state is recorded


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
        *(scratch_run(adoption, job) for job in scratched),
        *(decision(job) for job in stateful if job not in scratched),
        *(rename_watermarks(job) for job in adoption.jobs if job.watermark_table),
        *(first_crawl(crawler) for crawler in adoption.crawlers),
        _start(adoption, stack_file),
        _delete(adoption, found),
    ]


def reached(adoption: Adoption) -> list[AdoptedJob]:
    """Return the jobs that run when every job succeeds."""
    found: dict[str, Node] = {}
    for job in adoption.nodes:
        conditions = job.wait.conditions if job.wait else ()
        met = [old in found and state == "SUCCEEDED" for old, state in conditions]
        if job.wait is None or (any(met) if job.wait.logical == "ANY" else all(met)):
            found[job.old] = job
    return [job for job in found.values() if isinstance(job, AdoptedJob)]


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
        f"aws glue get-crawler --name {shlex.quote(one.old_name)} "
        f"> {BEFORE}/{one.name}.crawler.json"
        for one in adoption.crawlers
    ]
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
        "The jobs have other names, so both exist; the start trigger of a pipeline is ON_DEMAND, "
        "and starts= of its stack is empty, whatever the stage says.",
        (f"npx cdk deploy {stack_name(adoption)}",),
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
        (*late_objects(adoption, stateful), "# null, and no new rows in databases"),
        ("# let deliveries go on", "rm held-since"),
    )


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
    for crawler in adoption.crawlers:
        if crawler.is_scheduled:
            name = f"--crawler-name {shlex.quote(crawler.old_name)}"
            commands.append(f"aws glue stop-crawler-schedule {name}")
            back.append(f"aws glue start-crawler-schedule {name}")
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
            *(
                f"aws glue get-crawler --name {shlex.quote(one.old_name)} --query Crawler.State"
                for one in adoption.crawlers
            ),
            "# DEACTIVATED (CREATED of an ON_DEMAND trigger), and no run"
            + ("; each crawler READY" if adoption.crawlers else ""),
        ),
        tuple(back) or ("# let the callers start the old jobs again",),
    )


def _callers(adoption: Adoption) -> list[str]:
    names = ", ".join(node.old for node in adoption.nodes)
    found = [
        "aws cloudtrail lookup-events --lookup-attributes "
        f"AttributeKey=EventName,AttributeValue={event} --max-items 50 "
        "--query 'Events[].[EventTime,Username]'"
        for event in (
            "StartJobRun",
            "StartWorkflowRun",
            *(["StartCrawler"] if adoption.crawlers else []),
        )
    ]
    return [*found, f"# stop whoever else starts {names}: Step Functions, Airflow, rules, people"]


def _remaining(adoption: Adoption) -> str:
    if not adoption.left_out:
        return ""
    names = ", ".join(one.job for one in adoption.left_out)
    return (
        f" Nothing starts {names} any more either, as far as these triggers did: see Not adopted."
    )


def _start(adoption: Adoption, stack_file: str) -> Step:
    deploy = f"npx cdk deploy {stack_name(adoption)}"
    commands = [f"aws glue start-workflow-run --name {adoption.name}", "# let deliveries go on"]
    back = []
    if adoption.schedules:
        commands.append("# once that run has passed the check, let its schedules begin:")
        commands += [_set_switch("True", stack_file), deploy]
        back = [_set_switch("False", stack_file), deploy]
    back.append(
        "# what the new jobs processed the old bookmarks do not know: hold deliveries, and before "
        "anything starts the old jobs again, let each with a bookmark run once, writing elsewhere"
    )
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
            "--query 'Workflow.LastRun.[Status,Statistics]'",
            "# COMPLETED, no failed action; the targets hold what is new, and nothing twice",
        ),
        tuple(back),
    )


def _set_switch(value: str, stack_file: str) -> str:
    line = f"STARTS_BY_ITSELF = {value}"
    return f"sed -i {shlex.quote(f's/^STARTS_BY_ITSELF = .*/{line}/')} {stack_file}"


def _delete(adoption: Adoption, found: Found) -> Step:
    names = [shlex.quote(job.old) for job in adoption.jobs]
    left = bool(adoption.left_out)
    triggers = () if left else (*adoption.start_triggers, *adoption.other_triggers)
    commands = [
        *(f"aws glue delete-trigger --name {shlex.quote(name)}" for name in triggers),
        *(f"aws glue delete-job --job-name {name}" for name in names),
        *(f"aws glue delete-crawler --name {shlex.quote(c.old_name)}" for c in adoption.crawlers),
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

"""The steps in which a pipeline takes over from older jobs: pure, on plain data.

Old and new never write the same data at the same time: nothing starts the new jobs until nothing
starts the old ones, and the run that creates a bookmark writes elsewhere.

Sources: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuations.html (a bookmark is kept
by the name of its job, and deleted with it), https://docs.aws.amazon.com/AWSCloudFormation/latest/
UserGuide/resource-import-supported-resources.html (of Glue only registries and schemas can be
imported, as of 2024: https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/2045).
"""

from collections.abc import Iterator, Sequence

from tidemark.adopt.model import AdoptedJob, Adoption, Existing, MigrationStep, Node
from tidemark.adopt.plan import carrying
from tidemark.adopt.plan.carrying import in_shell
from tidemark.adopt.plan.switching import stack_name, start, stop, stop_stream, take_over_stream

BEFORE = "before"  # the folder for the record of the old state


def steps_of(adoption: Adoption, existing: Existing, stack_file: str) -> list[MigrationStep]:
    """Return the steps, in their order."""
    stateful = [job for job in adoption.jobs if carrying.has_bookmark(job, existing)]
    scratched = [job for job in stateful if carrying.overrides(job)]
    has_started = bool(adoption.started_jobs or adoption.crawlers)
    return [
        *_fetch(adoption, existing),
        _review(adoption, stack_file),
        _record(adoption, existing),
        _deploy(adoption),
        *_roles(adoption),
        *(_hold(adoption, stateful) if stateful else ()),
        *([_last_run(adoption, stateful)] if has_started else ()),
        stop(adoption, existing),
        *(carrying.scratch_run(adoption, job) for job in scratched),
        *(carrying.decision(job) for job in stateful if job not in scratched),
        *(carrying.rename_watermarks(job) for job in adoption.jobs if job.watermark_table),
        *(carrying.first_crawl(crawler) for crawler in adoption.crawlers),
        *(take_over_stream(job) for job in adoption.streaming_jobs),
        *([start(adoption, stack_file)] if has_started else ()),
        _delete(adoption, existing),
    ]


def reached(adoption: Adoption) -> list[AdoptedJob]:
    """Return the jobs that run when every job succeeds."""
    reached_nodes: dict[str, Node] = {}
    for job in adoption.nodes:
        if isinstance(job, AdoptedJob) and job.is_streaming:
            continue
        conditions = job.wait.conditions if job.wait else ()
        met = [old in reached_nodes and state == "SUCCEEDED" for old, state in conditions]
        if job.wait is None or (any(met) if job.wait.logical == "ANY" else all(met)):
            reached_nodes[job.old] = job
    return [job for job in reached_nodes.values() if isinstance(job, AdoptedJob)]


def _fetch(adoption: Adoption, existing: Existing) -> Iterator[MigrationStep]:
    missing = [job for job in adoption.jobs if job.old not in existing.scripts]
    if not missing:
        return
    commands = []
    for job in missing:
        by_hand = f"# write {job.script}: the job {job.old} names no script"
        copy = f"aws s3 cp {in_shell(job.script_location or '')} {job.script}"
        commands.append(copy if job.script_location else by_hand)
    yield MigrationStep(
        "Fetch the scripts that could not be read",
        "The app is not synthesized without them.",
        tuple(commands),
        tuple(f"python -m py_compile {job.script}" for job in missing),
        tuple(f"rm {job.script}" for job in missing),
    )


def _review(adoption: Adoption, stack_file: str) -> MigrationStep:
    return MigrationStep(
        "Put the stack into the app, and check it",
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


def in_app(adoption: Adoption, stack_file: str) -> tuple[str, str]:
    """Return the lines of app.py that create the stack: the imports and the call."""
    title = "".join(word.capitalize() for word in adoption.name.split("-"))
    module = stack_file.removesuffix(".py").replace("/", ".")
    return (
        f"from {module} import {title}Stack",
        f'{title}Stack(app, stage.name_of("{adoption.name}"), stage=stage, root=ROOT, env=env)',
    )


def _record(adoption: Adoption, existing: Existing) -> MigrationStep:
    commands = [f"mkdir -p {BEFORE}"]
    for job in adoption.jobs:
        old, file = in_shell(job.old), f"{BEFORE}/{job.name}"
        commands.append(f"aws glue get-job --job-name {old} > {file}.job.json")
        if carrying.has_bookmark(job, existing):
            commands.append(f"aws glue get-job-bookmark --job-name {old} > {file}.bookmark.json")
    commands += [
        f"aws glue get-crawler --name {in_shell(crawler.old_name)} > "
        f"{BEFORE}/{crawler.name}.crawler.json"
        for crawler in adoption.crawlers
    ]
    commands += [
        f"aws glue get-trigger --name {in_shell(name)} > {BEFORE}/trigger-{number}.json"
        for number, name in enumerate((*adoption.start_triggers, *adoption.other_triggers))
    ]
    return MigrationStep(
        "Record what there is",
        "To compare with, and to make it again. A bookmark cannot be put back from the file: no "
        "API writes one.",
        tuple(commands),
        (f"ls -l {BEFORE}", "# no file is empty"),
        (f"rm -r {BEFORE}",),
    )


def _deploy(adoption: Adoption) -> MigrationStep:
    return MigrationStep(
        "Deploy the new pipeline; nothing starts it",
        "The jobs have other names, so both exist; the start trigger of a pipeline is ON_DEMAND "
        "(streaming jobs alone have none), and starts= of its stack is empty, whatever the stage "
        "says.",
        (f"npx cdk deploy {stack_name(adoption)}",),
        (
            f"aws glue get-workflow --name {adoption.name} --query Workflow.LastRun",
            "# null: it never ran",
        ),
        (f"npx cdk destroy {stack_name(adoption)}",),
    )


def role_file(adoption: Adoption, arn: str) -> str:
    """Return the name of the file with the policies of a kept role."""
    return f"{adoption.name}-role-{arn.rpartition('/')[2]}.json"


def _roles(adoption: Adoption) -> Iterator[MigrationStep]:
    """Yield the step that shows what kept roles lack, before anything runs with them."""
    nodes = adoption.nodes
    kept = {arn: [node.name for node in nodes if node.role == arn] for arn in adoption.policies}
    if not kept:
        return
    unread = [name for policy in adoption.policies.values() for name in policy.unread]
    yield MigrationStep(
        "See the missing permissions of the kept roles",
        "The stack attaches one more inline policy to each, with the declared permissions. The "
        "owner of a role may want to add only the missing ones: then import it with mutable=False."
        + (f" Not known here, so counted as missing: {', '.join(unread)}." if unread else ""),
        tuple(
            f"tidemark grants {' '.join(names)} --given {in_shell(role_file(adoption, arn))}"
            for arn, names in kept.items()
        ),
        ("# each statement that is printed is one the role does not allow until now",),
        ("# nothing: it only reads",),
    )


def _hold(adoption: Adoption, stateful: Sequence[AdoptedJob]) -> Iterator[MigrationStep]:
    yield MigrationStep(
        "Hold back deliveries to the sources",
        "Data that arrives between the last old run and the run that builds the new bookmark would "
        "be lost. Deliveries wait until the new pipeline runs.",
        (
            f"# stop what writes to the sources of {', '.join(job.old for job in stateful)}",
            *(line for job in adoption.streaming_jobs for line in stop_stream(job.old)),
            "date -u +%Y-%m-%dT%H:%M:%SZ | tee held-since",
        ),
        (*carrying.late_objects(adoption, stateful), "# null, and no new rows in databases"),
        ("# let deliveries continue", "rm held-since"),
    )


def _last_run(adoption: Adoption, stateful: Sequence[AdoptedJob]) -> MigrationStep:
    jobs = ", ".join(job.old for job in adoption.started_jobs)
    start = f"aws glue start-workflow-run --name {in_shell(adoption.old_workflow or '')}"
    start = start if adoption.old_workflow else f"# start {jobs} as they always start"
    return MigrationStep(
        "Let the old jobs run a last time",
        "They process everything that was delivered until now. Start them as always, or wait for "
        "their schedule.",
        (start,),
        (
            *(
                f"aws glue get-job-runs --job-name {in_shell(job.old)} --max-items 1 "
                "--query 'JobRuns[0].[StartedOn,JobRunState]'"
                for job in reached(adoption)
            ),
            "# each started after the deliveries were held, and SUCCEEDED"
            if stateful
            else "# each SUCCEEDED",
        ),
        ("# nothing: it was a run as any other",),
    )


def _delete(adoption: Adoption, existing: Existing) -> MigrationStep:
    names = [in_shell(job.old) for job in adoption.jobs]
    left = bool(adoption.left_out)
    triggers = () if left else (*adoption.start_triggers, *adoption.other_triggers)
    commands = [
        "# what Terraform deploys: take it out of its configuration instead",
        *(f"aws glue delete-trigger --name {in_shell(name)}" for name in triggers),
        *(f"aws glue delete-job --job-name {name}" for name in names),
        *(f"aws glue delete-crawler --name {in_shell(c.old_name)}" for c in adoption.crawlers),
    ]
    if adoption.old_workflow and not left:
        commands.append(f"aws glue delete-workflow --name {in_shell(adoption.old_workflow)}")
    if existing.is_of_stack:
        commands = ["# take their resources out of the template, and deploy its stack"]
    return MigrationStep(
        "Delete the old jobs, weeks later",
        "Until here there is a way back. AWS deletes a bookmark with its job. Resources of a "
        "CloudFormation stack are deleted there, not by these commands.",
        tuple(commands),
        tuple(f"aws glue get-job --job-name {name}  # EntityNotFoundException" for name in names),
        (f"# create them again from {BEFORE}/; their bookmarks are gone",),
    )

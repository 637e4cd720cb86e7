"""The steps that stop the old jobs and start the new ones: pure, on plain data."""

import json
import re

from tidemark.adopt.model import AdoptedJob, Adoption, Existing, MigrationStep, Switch
from tidemark.adopt.plan.carrying import in_shell, overrides

IN_TEMPLATE = (
    "# in the template, set StartOnCreation: false (State: DISABLED in schedules and rules), or a "
    "deployment that changes them starts them again"
)
IN_TERRAFORM = (
    "# if Terraform deploys these, set enabled = false in each aws_glue_trigger (state = DISABLED "
    "in schedules and rules), or its next apply starts them again"
)


def stack_name(adoption: Adoption) -> str:
    """Return the stack's name for the CDK; its stage is in the environment."""
    return f'"*-{adoption.name}" -c stage=$STAGE'


def _switches(adoption: Adoption, existing: Existing) -> tuple[list[str], list[str]]:
    """Return the commands that switch the starts of the old jobs off, and those back on."""
    commands, back = [], []
    for name in adoption.start_triggers:
        kind = existing.triggers[name].get("Type")
        if kind == "ON_DEMAND":
            commands.append(f"# {name} is ON_DEMAND: check that no one calls StartTrigger for it")
        elif kind == "EVENT":  # which AWS refuses to stop
            commands.append(f"# {name} is EVENT: no event reaches it once its rules are disabled")
        else:
            commands.append(f"aws glue stop-trigger --name {in_shell(name)}")
            back.append(f"aws glue start-trigger --name {in_shell(name)}")
    for crawler in adoption.crawlers:
        if crawler.is_scheduled:
            name = f"--crawler-name {in_shell(crawler.old_name)}"
            commands.append(f"aws glue stop-crawler-schedule {name}")
            back.append(f"aws glue start-crawler-schedule {name}")
    for switch in adoption.switches:
        commands += _set_state(switch, "DISABLED")
        back += _set_state(switch, "ENABLED")
    if adoption.start_triggers or adoption.switches:
        # Without a change at its source the next deployment of the old starts them again.
        commands.insert(0, IN_TEMPLATE if existing.is_of_stack else IN_TERRAFORM)
    return commands, back


def stop(adoption: Adoption, existing: Existing) -> MigrationStep:
    """Return the step after which nothing starts the old jobs."""
    commands, back = _switches(adoption, existing)
    why = "From here on nothing writes the targets until the new pipeline does."
    if not adoption.started_jobs:
        what = "From here on nothing starts an old streaming job again"
        why = f"{what}; a run continues until the new job takes over."
    triggers = list(map(in_shell, adoption.start_triggers))
    crawlers = [in_shell(crawler.old_name) for crawler in adoption.crawlers]
    disabled = "DISABLED, " if adoption.switches else ""
    ready = "; each crawler READY" if crawlers else ""
    states = "DEACTIVATED (CREATED of an ON_DEMAND or EVENT trigger)"
    return MigrationStep(
        "Stop everything that starts the old jobs",
        why + _remaining(adoption),
        (*commands, *_callers(adoption)),
        (
            *(f"aws glue get-trigger --name {name} --query Trigger.State" for name in triggers),
            *map(_state_of, adoption.switches),
            *(_runs_of(job.old) for job in adoption.started_jobs),
            *(f"aws glue get-crawler --name {name} --query Crawler.State" for name in crawlers),
            f"# {states}, {disabled}and no run{ready}",
        ),
        tuple(back) or ("# let the callers start the old jobs again",),
    )


def _set_state(switch: Switch, state: str) -> list[str]:
    """Return the commands that switch what starts the old jobs from outside of Glue."""
    name, group = in_shell(switch.name), in_shell(switch.group)
    if switch.kind == "rule":
        verb = "disable-rule" if state == "DISABLED" else "enable-rule"
        return [f"aws events {verb} --name {name} --event-bus-name {group}  # all its targets"]
    # An update of a schedule replaces all of it, so it gets its present values.
    file = f"schedule-{re.sub(r'[^A-Za-z0-9_-]', '-', f'{switch.group}-{switch.name}')}.json"
    code = (
        "import json, sys; it = json.load(sys.stdin); it['State'] = sys.argv[1]; "
        "json.dump({k: v for k, v in it.items() "
        "if k not in ('Arn', 'CreationDate', 'LastModificationDate')}, sys.stdout)"
    )
    return [
        f"aws scheduler get-schedule --name {name} --group-name {group} "
        f"| python -c {in_shell(code)} {state} > {file}",
        f"aws scheduler update-schedule --cli-input-json file://{file}",
    ]


def _state_of(switch: Switch) -> str:
    shown = "scheduler get-schedule --name {} --group-name {}"
    if switch.kind == "rule":
        shown = "events describe-rule --name {} --event-bus-name {}"
    return f"aws {shown.format(in_shell(switch.name), in_shell(switch.group))} --query State"


def _callers(adoption: Adoption) -> list[str]:
    names = ", ".join(node.old for node in adoption.nodes)
    events = ["StartJobRun", "StartWorkflowRun", *(["StartCrawler"] if adoption.crawlers else [])]
    callers = [
        "aws cloudtrail lookup-events --lookup-attributes "
        f"AttributeKey=EventName,AttributeValue={event} --max-items 50 "
        "--query 'Events[].[EventTime,Username]'"
        for event in events
    ]
    return [*callers, f"# stop all other starts of {names}: Step Functions, Airflow, rules, people"]


def _remaining(adoption: Adoption) -> str:
    names = ", ".join(left.job for left in adoption.left_out)
    why = "as far as these triggers did: see Not adopted."
    return f" Nothing starts {names} any more either, {why}" if names else ""


def start(adoption: Adoption, stack_file: str) -> MigrationStep:
    """Return the step that starts the new pipeline, and enables its own starts."""
    deploy = f"npx cdk deploy {stack_name(adoption)}"
    commands = [f"aws glue start-workflow-run --name {adoption.name}", "# let deliveries continue"]
    back = []
    if adoption.schedules or adoption.events:
        commands.append("# once that run has passed the check, enable its own starts:")
        commands.append(_set_switch("True", stack_file))
        back.append(_set_switch("False", stack_file))
        if adoption.events:  # the type of a trigger cannot change, and a workflow has one
            commands.append(_replace_start_trigger(adoption.name, "ON_DEMAND"))
            back.append(_replace_start_trigger(adoption.name, "EVENT"))
        commands.append(deploy)
        back.append(deploy)
    back.append(
        "# the old bookmarks do not know the data of the new jobs: hold deliveries, and before "
        "anything starts the old jobs again, let each with a bookmark run once, writing elsewhere"
    )
    back += [
        f"aws glue start-job-run --job-name {in_shell(job.old)} --arguments "
        + in_shell(json.dumps(overrides(job)))
        for job in adoption.jobs
        if overrides(job)
    ]
    return MigrationStep(
        "Start the new pipeline",
        "Nothing starts the old jobs, and none runs: the new ones are the only writers now.",
        tuple(commands),
        (
            f"aws glue get-workflow --name {adoption.name} "
            "--query 'Workflow.LastRun.[Status,Statistics]'",
            "# COMPLETED, no failed action; the targets hold the new data, and nothing twice",
        ),
        tuple(back),
    )


def _set_switch(value: str, stack_file: str) -> str:
    line = f"STARTS_BY_ITSELF = {value}"
    return f"sed -i {in_shell(f's/^STARTS_BY_ITSELF = .*/{line}/')} {stack_file}"


def take_over_stream(job: AdoptedJob) -> MigrationStep:
    """Return the step in which a streaming job continues where the old one ended."""
    old, new = (place.uri if place else "" for place in (job.old_checkpoint, job.checkpoint))
    copy = () if old == new else (f"aws s3 sync {old} {new}",)
    where = f"from the same checkpoint, {new}" if old == new else f"from a copy, {new}, of {old}"
    return MigrationStep(
        f"Let {job.name} continue the stream of {job.old}",
        f"A checkpoint has one writer, so the old job stops first; the new one starts {where}. "
        "Records wait in the stream meanwhile, for as long as it keeps them.",
        (*stop_stream(job.old), *copy, f"aws glue start-job-run --job-name {job.name}"),
        (
            _runs_of(job.old),
            "# none, before anything else",
            _runs_of(job.name),
            "# one, RUNNING; its log names the batch after the last one of the old job",
        ),
        (
            *stop_stream(job.name),
            *((f"aws s3 sync --delete {new} {old}",) if copy else ()),
            f"aws glue start-job-run --job-name {in_shell(job.old)}",
        ),
    )


def stop_stream(job: str) -> tuple[str, ...]:
    """Return the commands that stop the run of a streaming job."""
    quoted = in_shell(job)
    return (
        f"aws glue batch-stop-job-run --job-name {quoted} --job-run-ids "
        f"$(aws glue get-job-runs --job-name {quoted} --query "
        "\"JobRuns[?JobRunState=='RUNNING'].Id\" --output text)",
    )


def _runs_of(job: str) -> str:
    return (
        f"aws glue get-job-runs --job-name {in_shell(job)} --query "
        "\"JobRuns[?JobRunState=='RUNNING' || JobRunState=='STARTING' || "
        "JobRunState=='WAITING' || JobRunState=='STOPPING'].[Id,JobRunState]\""
    )


def _replace_start_trigger(name: str, kind: str) -> str:
    """Return what deletes the start trigger of a type, which a deployment cannot change."""
    return (
        f'aws glue delete-trigger --name "$(aws glue get-triggers --query '
        f"\"Triggers[?WorkflowName=='{name}' && Type=='{kind}'].Name\" --output text)\""
    )

"""Writes the stack of an adopted pipeline as Python: pure, plan in, source out."""

from collections.abc import Iterable, Iterator, Mapping

from tidemark.adopt.adoption import Variables
from tidemark.adopt.data import flags_of
from tidemark.adopt.model import (
    AdoptedCrawler,
    AdoptedJob,
    Adoption,
    CrawlTarget,
    Folder,
    Node,
    Wait,
)
from tidemark.adopt.plan.literals import (
    call,
    dict_of,
    json_literal,
    list_of,
    literal,
    quoted,
    runtime_call,
)
from tidemark.model.assembly.definitions import CRAWLER
from tidemark.model.stage.runtime import JobRuntime, ShellRuntime, StreamingRuntime

OWN_VARIABLES = ("cdk", "env", "iam", "id_", "key", "kms", "root", "s3", "scope", "self", "stage")
MEMBERS = (
    "BookmarkOption",
    "CrawlState",
    "JobState",
    "MissingData",
    "Recrawl",
    "RunProperties",
    "OpenFormat",
    "SchemaUpdate",
    "ShellCapacity",
)
CALLS = (
    "ActionOptions",
    "all_of",
    "any_of",
    "CrawledData",
    "CrawledDatabase",
    "CrawledTable",
    "CrawledDynamoDB",
    "CrawledOpenTables",
    "CrawlerOptions",
    "GlueArguments",
    "JobOptions",
    "JobRuntime",
    "KinesisStream",
    "ShellRuntime",
    "StreamingRuntime",
)
SWITCH = """\
# Whether its schedules and events start it: a step of the plan sets it, once nothing starts the
# old jobs.
STARTS_BY_ITSELF = False

"""
STACK = '''"""The pipeline `{name}`.

It was adopted from older jobs: {plan} says how it takes over.
"""

from pathlib import Path

import aws_cdk as cdk
{iam}from aws_cdk import aws_kms as kms
{s3}from constructs import Construct
from tidemark.constructs import (
{imports}
)

{switch}

class {title}Stack(cdk.Stack):
    """Creates the workflow `{name}` with its jobs, roles and triggers."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        stage: StageConfig,
        root: Path,
        env: cdk.Environment,
        key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, id_, env=env, termination_protection=stage.termination_protection)
        self.pipeline = Pipeline(
            self,
            "Pipeline",
            name={quoted},
            root=root,
            stage=stage,
            starts={starts},
            watermarks={watermarks},
            key=key
            or kms.Key(
                self, "Key", enable_key_rotation=True, removal_policy=cdk.RemovalPolicy.RETAIN
            ),
{pipeline})
{data}{roles}{jobs}        # tidemark new-job inserts above this line
'''


def stack_of(adoption: Adoption, plan: str, keys: Mapping[str, str]) -> str:
    """Return the Python source of the stack, as a formatter would still fold it."""
    variables = Variables((*OWN_VARIABLES, *(node.variable for node in adoption.nodes)))
    datasets, data = _data(adoption, keys, variables)
    roles = {
        arn: variables.name(f"role-{arn.rpartition('/')[2]}")
        for arn in dict.fromkeys(node.role for node in adoption.nodes if node.role)
    }
    jobs = "".join(_node(node, adoption, datasets, plan, roles) for node in adoption.nodes)
    names = {"Pipeline", "StageConfig"}
    names |= {word for word in MEMBERS if f"{word}." in jobs}
    names |= {word for word in CALLS if f"{word}(" in jobs}
    names |= {"Dataset"} if datasets else set()
    names |= {"Schedule"} if adoption.schedules else set()
    names |= {"OnEvent"} if adoption.events else set()
    names |= {"WatermarkTable"} if _watermarks(adoption) != "None" else set()
    return STACK.format(
        name=adoption.name,
        plan=plan,
        title="".join(word.capitalize() for word in adoption.name.split("-")),
        quoted=quoted(adoption.name),
        iam="from aws_cdk import aws_iam as iam\n" if roles else "",
        s3="from aws_cdk import aws_s3 as s3\n" if datasets else "",
        imports="\n".join(f"    {name}," for name in sorted(names, key=_sort_key)),
        switch=SWITCH if adoption.schedules or adoption.events else "",
        starts=_starts(adoption),
        watermarks=_watermarks(adoption),
        pipeline=f"            run_properties={dict_of(adoption.run_properties)},\n        "
        if adoption.run_properties
        else "        ",
        data=data,
        roles="".join(
            f"        {variable} = iam.Role.from_role_arn("
            f"self, {quoted(f'RoleOf{variable}')}, {quoted(arn)})\n"
            for arn, variable in roles.items()
        ),
        jobs=jobs,
    )


def _sort_key(name: str) -> tuple[bool, str]:
    return (name[0].islower(), name.lower())


def _watermarks(adoption: Adoption) -> str:
    """Return the existing table with the watermarks of the jobs."""
    tables = [job.watermark_table for job in adoption.jobs if job.watermark_table]
    if not tables:
        return "None"
    return f'WatermarkTable.from_table_name(self, "Watermarks", {quoted(tables[0])})'


def _starts(adoption: Adoption) -> str:
    """Return the starts of the pipeline: none, until a step of the plan adds them."""
    calls = [
        f"Schedule({quoted(expression)}{'' if zone == 'UTC' else f', {quoted(zone)}'})"
        for expression, zone in adoption.schedules
    ]
    for event in adoption.events:
        given = [json_literal(event.pattern)]
        given += [f"batch_size={event.batch_size}"] if event.batch_size > 1 else []
        minutes = event.batch_window_minutes
        given += [f"batch_window_minutes={minutes}"] if minutes else []
        calls.append(f"OnEvent({', '.join(given)})")
    return f"{list_of(calls)} if STARTS_BY_ITSELF else []" if calls else "[]"


def _data(
    adoption: Adoption, keys: Mapping[str, str], variables: Variables
) -> tuple[dict[Folder, str], str]:
    """Return the variables of all places, and the lines that create them."""
    flags = flags_of(adoption.nodes)
    others = [place for job in adoption.jobs for place in (job.temp, job.checkpoint) if place]
    others += [
        value for job in adoption.jobs for value in job.glue.values() if isinstance(value, Folder)
    ]
    places = list(dict.fromkeys((*flags, *others)))
    buckets = {
        name: variables.name(f"{name}-bucket")
        for name in dict.fromkeys(place.bucket for place in places)
    }
    lines = [_bucket(name, variable, keys.get(name)) for name, variable in buckets.items()]
    datasets = {}
    prefixes = [place.prefix for place in places]
    checkpoints = [job.checkpoint for job in adoption.jobs]
    for place in places:
        is_alone = prefixes.count(place.prefix) == 1
        words = ["checkpoint"] if place in checkpoints else ["temp"]
        words = words if place not in flags else []
        words += [place.prefix] if is_alone else [place.bucket, place.prefix]
        datasets[place] = variables.name("-".join(words))
        delivered, published = flags.get(place, (False, False))
        given = [buckets[place.bucket], quoted(place.prefix)]
        given += ["delivered=True"] if delivered else []
        given += ["published=True"] if published else []
        lines.append(f"{datasets[place]} = Dataset({', '.join(given)})")
    return datasets, "".join(f"        {line}\n" for line in lines)


def _bucket(name: str, variable: str, key: str | None) -> str:
    id_ = quoted(f"Bucket{name}")
    if key is None:
        return f"{variable} = s3.Bucket.from_bucket_name(self, {id_}, {quoted(name)})"
    imported = f"kms.Key.from_key_arn(self, {quoted(f'KeyOf{name}')}, {quoted(key)})"
    return (
        f"{variable} = s3.Bucket.from_bucket_attributes(self, {id_}, "
        f"bucket_name={quoted(name)}, encryption_key={imported})"
    )


def _node(
    job: Node,
    adoption: Adoption,
    datasets: Mapping[Folder, str],
    plan: str,
    variable_of_role: Mapping[str, str],
) -> str:
    """Return the call that adds a job or a crawler, and what follows it."""
    if isinstance(job, AdoptedJob):
        methods = {ShellRuntime: "add_shell_job", StreamingRuntime: "add_streaming_job"}
        method = methods.get(type(job.runtime), "add_job")
        keywords = _keywords(job, adoption, datasets)
    else:
        method, keywords = "add_crawler", _crawler_keywords(job, adoption, datasets)
    given = [quoted(job.name), *keywords]
    given += [f"role={variable_of_role[job.role]}"] if job.role else []
    rules = adoption.acknowledged.get(job.name, {})
    is_used = bool(rules) or any(
        old == job.old for node in adoption.nodes if node.wait for old, _ in node.wait.conditions
    )
    lines = [
        f"# until now: {' '.join(job.old.split())}",
        f"{f'{job.variable} = ' if is_used else ''}self.pipeline.{method}(",
        *(f"    {part}," for part in given),
        ")",
    ]
    lines += [
        f"{job.variable}.acknowledge({quoted(rule)}, {quoted(f'as before: {plan}')})"
        for rule in rules
    ]
    return "".join(f"        {line}\n" for line in lines)


def _keywords(job: AdoptedJob, adoption: Adoption, datasets: Mapping[Folder, str]) -> Iterator[str]:
    reads, writes = (
        list_of(dict.fromkeys(datasets[place] for _, place in places))
        for places in (job.reads, job.writes)
    )
    keywords = {
        "script": quoted(job.script),
        "bookmark": f"BookmarkOption.{job.bookmark}" if isinstance(job.runtime, JobRuntime) else "",
        "after": _after(job.wait, adoption.nodes) if job.wait else "",
        "watermark": "True" if job.watermark_table else "",
        "checkpoint": datasets[job.checkpoint] if job.checkpoint else "",
        "sources": list_of(f"KinesisStream({quoted(arn)})" for arn in job.streams)
        if job.streams
        else "",
        "reads": reads if job.reads else "",
        "writes": writes if job.writes else "",
        "arguments": _arguments(job.arguments, job, datasets) if job.arguments else "",
        "runtime": runtime_call(job.runtime),
        "temp": datasets[job.temp] if job.temp else "",
        **{
            key: list_of(map(quoted, texts)) if (texts := getattr(job, key)) else ""
            for key in ("tables", "python_modules", "connections", "secrets")
        },
        "run_properties": f"RunProperties.{job.run_properties}"
        if job.run_properties and not job.is_streaming
        else "",
        "glue_arguments": call("GlueArguments", job.glue, datasets),
        "options": call("JobOptions", job.options, datasets),
        "started": _started(job, datasets),
    }
    yield from (f"{key}={value}" for key, value in keywords.items() if value)


def _crawler_keywords(
    crawler: AdoptedCrawler, adoption: Adoption, datasets: Mapping[Folder, str]
) -> Iterator[str]:
    """Yield the keywords of the call that adds a crawler."""
    yield f"targets={list_of(_target(target, datasets) for target in crawler.targets)}"
    yield f"database={quoted(crawler.database)}"
    if crawler.wait:
        yield f"after={_after(crawler.wait, adoption.nodes)}"
    if options := call("CrawlerOptions", crawler.options, datasets):
        yield f"options={options}"


def _target(target: CrawlTarget, datasets: Mapping[Folder, str]) -> str:
    if target.kind == "Dataset" and target.place:
        return datasets[target.place]
    data = {"data": target.place} if target.place else {}
    return call(target.kind, {**data, **target.fields}, datasets)


def _after(wait: Wait, jobs: Iterable[Node]) -> str:
    variables = {job.old: job.variable for job in jobs}
    if wait.logical == "AND" and {state for _, state in wait.conditions} == {"SUCCEEDED"}:
        return list_of(variables[old] for old, _ in wait.conditions)
    conditions = [
        variables[old]
        if state == "SUCCEEDED"
        else f"{variables[old]}.on({'Crawl' if old.startswith(CRAWLER) else 'Job'}State.{state})"
        for old, state in wait.conditions
    ]
    return f"{'any_of' if wait.logical == 'ANY' else 'all_of'}({', '.join(conditions)})"


def _started(job: AdoptedJob, datasets: Mapping[Folder, str]) -> str:
    """Return the options of its trigger; empty without any."""
    given = {
        name: _arguments(job.started_arguments, job, datasets)
        if name == "arguments"
        else literal(value, datasets)
        for name, value in job.started.items()
    }
    texts = ", ".join(f"{name}={text}" for name, text in given.items())
    return f"ActionOptions({texts})" if texts else ""


def _arguments(texts: Mapping[str, str], job: AdoptedJob, datasets: Mapping[Folder, str]) -> str:
    """Return arguments; one that is the address of data of the job is written as the data."""
    declared = {place.uri: datasets[place] for _, place in (*job.reads, *job.writes)}
    values = {name: declared.get(text) or quoted(text) for name, text in texts.items()}
    return "{" + ", ".join(f"{quoted(name)}: {value}" for name, value in values.items()) + "}"

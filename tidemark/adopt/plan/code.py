"""Writes the stack of an adopted pipeline as Python: pure, plan in, source out."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import TypeAlias

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
from tidemark.adopt.plan.literals import call, list_of, literal, quoted, runtime_call
from tidemark.model.assembly.definitions import CRAWLER
from tidemark.model.stage.runtime import JobRuntime, ShellRuntime, StreamingRuntime

Datasets: TypeAlias = Mapping[Folder, str]
"""The variable of the dataset of each place."""

# What the template of the stack binds itself.
OWN_VARIABLES = ("cdk", "env", "iam", "id_", "key", "kms", "root", "s3", "scope", "self", "stage")
SWITCH = """\
# Whether its schedules and events start it: a step of the plan sets it, once nothing starts the
# old jobs.
STARTS_BY_ITSELF = False

"""
STACK = Path(__file__).with_name("stack.txt").read_text(encoding="utf-8")


def stack_of(adoption: Adoption, plan: str, keys: Mapping[str, str]) -> str:
    """Return the Python source of the stack, as a formatter would still fold it."""
    variables = Variables((*OWN_VARIABLES, *(node.variable for node in adoption.nodes)))
    datasets, data = _data(adoption, keys, variables)
    roles = {
        arn: variables.name(f"role-{arn.rpartition('/')[2]}")
        for arn in dict.fromkeys(node.role for node in adoption.nodes if node.role)
    }
    jobs = "".join(_node(node, adoption, datasets, plan, roles) for node in adoption.nodes)
    from_arn = "".join(
        f"        {variable} = iam.Role.from_role_arn("
        f"self, {quoted(f'RoleOf{variable}')}, {quoted(arn)})\n"
        for arn, variable in roles.items()
    )
    starts, watermarks = _starts(adoption), _watermarks(adoption)
    body = f"{data}{from_arn}{jobs}        {starts}, {watermarks}"
    names = {"Pipeline", "StageConfig"} | _unbound_in(body)
    return STACK.format(
        name=adoption.name,
        plan=plan,
        title="".join(word.capitalize() for word in adoption.name.split("-")),
        quoted=quoted(adoption.name),
        iam="from aws_cdk import aws_iam as iam\n" if roles else "",
        s3="from aws_cdk import aws_s3 as s3\n" if datasets else "",
        imports="\n".join(
            f"    {name},"
            for name in sorted(names, key=lambda name: (name[0].islower(), name.lower()))
        ),
        switch=SWITCH if adoption.schedules or adoption.events else "",
        starts=starts,
        watermarks=watermarks,
        pipeline=f"            run_properties={literal(adoption.run_properties, {})},\n        "
        if adoption.run_properties
        else "        ",
        data=data,
        roles=from_arn,
        jobs=jobs,
    )


def _unbound_in(body: str) -> set[str]:
    """Return the names that the stack has to import from the constructs."""
    names = [node for node in ast.walk(ast.parse(dedent(body))) if isinstance(node, ast.Name)]
    bound = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return {name.id for name in names} - bound - {*OWN_VARIABLES, "STARTS_BY_ITSELF"}


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
        given = [literal(event.pattern, {})]
        given += [f"batch_size={event.batch_size}"] if event.batch_size > 1 else []
        minutes = event.batch_window_minutes
        given += [f"batch_window_minutes={minutes}"] if minutes else []
        calls.append(f"OnEvent({', '.join(given)})")
    return f"{list_of(calls)} if STARTS_BY_ITSELF else []" if calls else "[]"


def _data(
    adoption: Adoption, keys: Mapping[str, str], variables: Variables
) -> tuple[Datasets, str]:
    """Return the variables of all places, and the lines that create them."""
    flags = flags_of(adoption.nodes)
    kept: list[object] = [place for job in adoption.jobs for place in (job.temp, job.checkpoint)]
    kept += [value for job in adoption.jobs for value in job.glue.values()]
    others = [place for place in kept if isinstance(place, Folder)]
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
        use = "checkpoint" if place in checkpoints else "temp"
        words = [] if place in flags else [use]
        words += [place.bucket] if prefixes.count(place.prefix) > 1 else []
        datasets[place] = variables.name("-".join((*words, place.prefix)))
        given = [buckets[place.bucket], quoted(place.prefix)]
        for is_set, flag in zip(flags.get(place, ()), ("delivered", "published"), strict=False):
            given += [f"{flag}=True"] if is_set else []
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
    job: Node, adoption: Adoption, datasets: Datasets, plan: str, roles: Mapping[str, str]
) -> str:
    """Return the call that adds a job or a crawler, and what follows it."""
    if isinstance(job, AdoptedJob):
        methods = {ShellRuntime: "add_shell_job", StreamingRuntime: "add_streaming_job"}
        method = methods.get(type(job.runtime), "add_job")
        keywords = _keywords(job, adoption, datasets)
    else:
        method, keywords = "add_crawler", _crawler_keywords(job, adoption, datasets)
    given = [quoted(job.name), *keywords]
    given += [f"role={roles[job.role]}"] if job.role else []
    rules = adoption.acknowledged.get(job.name, {})
    waits = [node.wait for node in adoption.nodes if node.wait]
    is_used = bool(rules) or any(job.old in wait.nodes for wait in waits)
    lines = [
        f"# until now: {' '.join(job.old.split())}",
        f"{f'{job.variable} = ' if is_used else ''}self.pipeline.{method}(",
        *(f"    {part}," for part in given),
        ")",
    ]
    reason = quoted(f"as before: {plan}")
    lines += (f"{job.variable}.acknowledge({quoted(rule)}, {reason})" for rule in rules)
    return "".join(f"        {line}\n" for line in lines)


def _keywords(job: AdoptedJob, adoption: Adoption, datasets: Datasets) -> Iterator[str]:
    has_properties = job.run_properties and not job.is_streaming
    keywords = {
        "script": quoted(job.script),
        "bookmark": f"BookmarkOption.{job.bookmark}" if isinstance(job.runtime, JobRuntime) else "",
        "after": _after(job.wait, adoption.nodes) if job.wait else "",
        "watermark": "True" if job.watermark_table else "",
        "checkpoint": datasets[job.checkpoint] if job.checkpoint else "",
        "sources": list_of(f"KinesisStream({quoted(arn)})" for arn in job.streams),
        "reads": list_of(dict.fromkeys(datasets[place] for _, place in job.reads)),
        "writes": list_of(dict.fromkeys(datasets[place] for _, place in job.writes)),
        "arguments": _arguments(job.arguments, job, datasets),
        "runtime": runtime_call(job.runtime),
        "temp": datasets[job.temp] if job.temp else "",
        "tables": list_of(map(quoted, job.tables)),
        "python_modules": list_of(map(quoted, job.python_modules)),
        "connections": list_of(map(quoted, job.connections)),
        "secrets": list_of(map(quoted, job.secrets)),
        "run_properties": f"RunProperties.{job.run_properties}" if has_properties else "",
        "glue_arguments": call("GlueArguments", job.glue, datasets),
        "options": call("JobOptions", job.options, datasets),
        "started": _started(job, datasets),
    }
    given = {key: value for key, value in keywords.items() if value not in ("", "[]", "{}")}
    yield from (f"{key}={value}" for key, value in given.items())


def _crawler_keywords(
    crawler: AdoptedCrawler, adoption: Adoption, datasets: Datasets
) -> Iterator[str]:
    """Yield the keywords of the call that adds a crawler."""
    yield f"targets={list_of(_target(target, datasets) for target in crawler.targets)}"
    yield f"database={quoted(crawler.database)}"
    if crawler.wait:
        yield f"after={_after(crawler.wait, adoption.nodes)}"
    if options := call("CrawlerOptions", crawler.options, datasets):
        yield f"options={options}"


def _target(target: CrawlTarget, datasets: Datasets) -> str:
    if target.kind == "Dataset" and target.place:
        return datasets[target.place]
    data = {"data": target.place} if target.place else {}
    return call(target.kind, {**data, **target.fields}, datasets)


def _after(wait: Wait, jobs: Iterable[Node]) -> str:
    variables = {job.old: job.variable for job in jobs}
    if wait.logical == "AND" and {state for _, state in wait.conditions} == {"SUCCEEDED"}:
        return list_of(variables[old] for old, _ in wait.conditions)
    conditions = []
    for old, state in wait.conditions:
        kind = "Crawl" if old.startswith(CRAWLER) else "Job"
        end = "" if state == "SUCCEEDED" else f".on({kind}State.{state})"
        conditions.append(f"{variables[old]}{end}")
    return f"{'any_of' if wait.logical == 'ANY' else 'all_of'}({', '.join(conditions)})"


def _started(job: AdoptedJob, datasets: Datasets) -> str:
    """Return the options of its trigger; empty without any."""
    given = {name: literal(value, datasets) for name, value in job.started.items()}
    if job.started_arguments:
        given["arguments"] = _arguments(job.started_arguments, job, datasets)
    texts = ", ".join(f"{name}={text}" for name, text in given.items())
    return f"ActionOptions({texts})" if texts else ""


def _arguments(texts: Mapping[str, str], job: AdoptedJob, datasets: Datasets) -> str:
    """Return arguments; one that is the address of data of the job is written as the data."""
    declared = {place.uri: datasets[place] for _, place in (*job.reads, *job.writes)}
    values = {name: declared.get(text) or quoted(text) for name, text in texts.items()}
    return f"{{{', '.join(f'{quoted(name)}: {value}' for name, value in values.items())}}}"

"""Writes the stack of an adopted pipeline as Python: pure, plan in, text out."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields

from tidemark.adopt.data import flags_of
from tidemark.adopt.jobs.roles import roles_of
from tidemark.adopt.model import (
    AdoptedCrawler,
    AdoptedJob,
    Adoption,
    CrawlTarget,
    Member,
    Node,
    Place,
    Wait,
)
from tidemark.adopt.names import Variables
from tidemark.assembly.definitions import CRAWLER
from tidemark.stage.runtime import JobRuntime
from tidemark.stage.shell_runtime import ShellCapacity, ShellRuntime

OWN_VARIABLES = ("cdk", "env", "iam", "id_", "key", "kms", "root", "s3", "scope", "self", "stage")
ALWAYS = ("capacity", "worker_type", "number_of_workers", "timeout_minutes", "glue_version")
MEMBERS = (
    *("BookmarkOption", "CrawlState", "JobState", "MissingData", "Recrawl", "RunProperties"),
    *("OpenFormat", "SchemaUpdate", "ShellCapacity"),
)
CALLS = (
    *("ActionOptions", "all_of", "any_of", "CrawledData", "CrawledDatabase", "CrawledTable"),
    *("CrawledDynamoDB", "CrawledOpenTables"),
    *("CrawlerOptions", "GlueArguments", "JobOptions", "JobRuntime", "ShellRuntime"),
)
SWITCH = """\
# Whether its schedules start it: a step of the plan sets it, once nothing starts the old jobs.
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
    """Return the Python source of the stack, as a formatter would still fold it.

    Args:
        adoption: what it declares.
        plan: name of the file with the plan.
        keys: KMS keys of buckets, by bucket.
    """
    variables = Variables((*OWN_VARIABLES, *(node.variable for node in adoption.nodes)))
    datasets, data = _data(adoption, keys, variables)
    roles = {
        arn: variables.name(f"role-{arn.rpartition('/')[2]}")
        for arn in roles_of([node.role for node in adoption.nodes])
    }
    jobs = "".join(_node(node, adoption, datasets, plan, roles) for node in adoption.nodes)
    names = {"Pipeline", "StageConfig"}
    names |= {word for word in MEMBERS if f"{word}." in jobs}
    names |= {word for word in CALLS if f"{word}(" in jobs}
    names |= {"Dataset"} if datasets else set()
    names |= {"Schedule"} if adoption.schedules else set()
    names |= {"WatermarkTable"} if _watermarks(adoption) != "None" else set()
    return STACK.format(
        name=adoption.name,
        plan=plan,
        title="".join(word.capitalize() for word in adoption.name.split("-")),
        quoted=quoted(adoption.name),
        iam="from aws_cdk import aws_iam as iam\n" if roles else "",
        s3="from aws_cdk import aws_s3 as s3\n" if datasets else "",
        imports="\n".join(f"    {name}," for name in sorted(names, key=_sort_key)),
        switch=SWITCH if adoption.schedules else "",
        starts=_starts(adoption.schedules),
        watermarks=_watermarks(adoption),
        pipeline=_run_properties(adoption.run_properties),
        data=data,
        roles="".join(
            f"        {variable} = iam.Role.from_role_arn("
            f"self, {quoted(f'RoleOf{variable}')}, {quoted(arn)})\n"
            for arn, variable in roles.items()
        ),
        jobs=jobs,
    )


def quoted(text: str) -> str:
    """Return a text as a string of Python."""
    if text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    # JSON writes what is beyond 16 bits as two halves, which are no character in Python.
    escaped = (f"\\U{ord(c):08x}" if ord(c) > 0xFFFF else json.dumps(c)[1:-1] for c in text)
    return f'"{"".join(escaped)}"'


def _sort_key(name: str) -> tuple[bool, str]:
    return (name[0].islower(), name.lower())


def _watermarks(adoption: Adoption) -> str:
    """Return the table that the jobs keep their watermarks in, which is there already."""
    tables = [job.watermark_table for job in adoption.jobs if job.watermark_table]
    if not tables:
        return "None"
    return f'WatermarkTable.from_table_name(self, "Watermarks", {quoted(tables[0])})'


def _starts(schedules: Iterable[str]) -> str:
    """Return what starts the pipeline by itself: nothing, until a step of the plan says so."""
    calls = _list(f"Schedule({quoted(expression)})" for expression in schedules)
    return f"{calls} if STARTS_BY_ITSELF else []" if schedules else "[]"


def _run_properties(properties: Mapping[str, str]) -> str:
    if not properties:
        return "        "
    return f"            run_properties={_dict(properties)},\n        "


def _dict(texts: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{quoted(k)}: {quoted(v)}" for k, v in texts.items()) + "}"


def _data(
    adoption: Adoption, keys: Mapping[str, str], variables: Variables
) -> tuple[dict[Place, str], str]:
    """Return the variables of all places, and the lines that make them."""
    flags = flags_of(adoption.nodes)
    others = [job.temp for job in adoption.jobs if job.temp]
    others += [one for job in adoption.jobs for one in job.glue.values() if isinstance(one, Place)]
    places = list(dict.fromkeys((*flags, *others)))
    buckets = {
        name: variables.name(f"{name}-bucket")
        for name in dict.fromkeys(place.bucket for place in places)
    }
    lines = [_bucket(name, variable, keys.get(name)) for name, variable in buckets.items()]
    datasets = {}
    for place in places:
        is_alone = [other.prefix for other in places].count(place.prefix) == 1
        words = ["temp"] if place not in flags else []
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
    datasets: Mapping[Place, str],
    plan: str,
    variable_of_role: Mapping[str, str],
) -> str:
    """Return the call that adds a job or a crawler, and what follows it."""
    if isinstance(job, AdoptedJob):
        method = "add_shell_job" if isinstance(job.runtime, ShellRuntime) else "add_job"
        keywords = _keywords(job, adoption, datasets)
    else:
        method, keywords = "add_crawler", _crawler_keywords(job, adoption, datasets)
    given = [quoted(job.name), *keywords]
    given += [f"role={variable_of_role[job.role]}"] if job.role else []
    rules = adoption.acknowledged.get(job.name, {})
    is_used = bool(rules) or any(
        old == job.old for other in adoption.nodes if other.wait for old, _ in other.wait.conditions
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


def _keywords(job: AdoptedJob, adoption: Adoption, datasets: Mapping[Place, str]) -> Iterator[str]:
    """Yield the keywords of its call."""
    reads, writes = (
        _list(dict.fromkeys(datasets[place] for _, place in places))
        for places in (job.reads, job.writes)
    )
    keywords = {
        "script": quoted(job.script),
        "bookmark": f"BookmarkOption.{job.bookmark}" if _is_spark(job) else "",
        "after": _after(job.wait, adoption.nodes) if job.wait else "",
        "watermark": "True" if job.watermark_table else "",
        "reads": reads if job.reads else "",
        "writes": writes if job.writes else "",
        "arguments": _arguments(job.arguments, job, datasets) if job.arguments else "",
        "runtime": _runtime(job.runtime),
        "temp": datasets[job.temp] if job.temp else "",
        **{
            key: _list(map(quoted, texts)) if (texts := getattr(job, key)) else ""
            for key in ("tables", "python_modules", "connections")
        },
        "run_properties": f"RunProperties.{job.run_properties}" if job.run_properties else "",
        "glue_arguments": _fields("GlueArguments", job.glue, datasets),
        "options": _fields("JobOptions", job.options, datasets),
        "started": _started(job, datasets),
    }
    yield from (f"{key}={value}" for key, value in keywords.items() if value)


def _crawler_keywords(
    crawler: AdoptedCrawler, adoption: Adoption, datasets: Mapping[Place, str]
) -> Iterator[str]:
    """Yield the keywords of the call that adds a crawler."""
    yield f"targets={_list(_target(target, datasets) for target in crawler.targets)}"
    yield f"database={quoted(crawler.database)}"
    if crawler.wait:
        yield f"after={_after(crawler.wait, adoption.nodes)}"
    if options := _fields("CrawlerOptions", crawler.options, datasets):
        yield f"options={options}"


def _target(target: CrawlTarget, datasets: Mapping[Place, str]) -> str:
    if target.kind == "Dataset" and target.place:
        return datasets[target.place]
    data = {"data": target.place} if target.place else {}
    return _fields(target.kind, {**data, **target.fields}, datasets)


def _after(wait: Wait, jobs: Iterable[Node]) -> str:
    variables = {job.old: job.variable for job in jobs}
    states = {state for _, state in wait.conditions}
    if wait.logical == "AND" and states == {"SUCCEEDED"}:
        return _list(variables[old] for old, _ in wait.conditions)
    conditions = [
        variables[old]
        if state == "SUCCEEDED"
        else f"{variables[old]}.on({'Crawl' if old.startswith(CRAWLER) else 'Job'}State.{state})"
        for old, state in wait.conditions
    ]
    return f"{'any_of' if wait.logical == 'ANY' else 'all_of'}({', '.join(conditions)})"


def _started(job: AdoptedJob, datasets: Mapping[Place, str]) -> str:
    """Return what its trigger adds; empty if that is nothing."""
    given = {
        name: _arguments(job.started_arguments, job, datasets)
        if name == "arguments"
        else _literal(value, datasets)
        for name, value in job.started.items()
    }
    texts = ", ".join(f"{name}={text}" for name, text in given.items())
    return f"ActionOptions({texts})" if texts else ""


def _arguments(texts: Mapping[str, str], job: AdoptedJob, datasets: Mapping[Place, str]) -> str:
    """Return arguments; one that is the address of data of the job is written as the data."""
    declared = {place.uri: datasets[place] for _, place in (*job.reads, *job.writes)}
    values = {name: declared.get(text) or quoted(text) for name, text in texts.items()}
    return "{" + ", ".join(f"{quoted(name)}: {value}" for name, value in values.items()) + "}"


def _is_spark(job: AdoptedJob) -> bool:
    return isinstance(job.runtime, JobRuntime)


def _runtime(runtime: JobRuntime | ShellRuntime) -> str:
    """Return the call that makes a runtime: what differs from the default, and what matters."""
    default = type(runtime)()
    given = {
        field.name: getattr(runtime, field.name)
        for field in fields(runtime)
        if field.name in ALWAYS or getattr(runtime, field.name) != getattr(default, field.name)
    }
    return (
        f"{type(runtime).__name__}({', '.join(f'{k}={_literal(v, {})}' for k, v in given.items())})"
    )


def _fields(kind: str, given: Mapping[str, object], datasets: Mapping[Place, str]) -> str:
    """Return the call that makes a group of settings; empty if there are none."""
    texts = [f"{name}={_literal(value, datasets)}" for name, value in given.items()]
    return f"{kind}({', '.join(texts)})" if texts else ""


def _literal(value: object, datasets: Mapping[Place, str]) -> str:
    match value:
        case Place():
            return datasets[value]
        case Member():
            return f"{value.of}.{value.name}"
        case ShellCapacity():
            return f"ShellCapacity.{value.name}"
        case str():
            return quoted(value)
        case Mapping():
            return _dict({str(name): str(text) for name, text in value.items()})
        case tuple():
            return _list(_literal(one, datasets) for one in value)
    return repr(value)


def _list(parts: Iterable[str]) -> str:
    return f"[{', '.join(parts)}]"

"""Turns Glue's own arguments of a job into strings, assets and permissions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import aws_cdk as cdk
from constructs import Construct

from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs import permissions
from tidemark.constructs.jobs.glue_arguments import OBJECT, GlueArguments
from tidemark.constructs.jobs.wheels import named_asset
from tidemark.constructs.references import object_arn
from tidemark.constructs.shared_checks import KEY_PLACES, check_here, no_file_of
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.glue_arguments import Form, GlueArgument
from tidemark.model.assembly.glue_versions import AUTO
from tidemark.model.plain_secrets import check_open_strings, reasons
from tidemark.model.stage.runtime import JobRuntime, StreamingRuntime

MIN_LAKE_FORMATION_WORKERS = 4
VCPUS_PER_DPU = 4


Cluster: TypeAlias = JobRuntime | StreamingRuntime


@dataclass(frozen=True)
class OwnArguments:
    """Glue's own arguments of a job, for the template.

    Attributes:
        texts: dashed name to value.
        objects: ARNs of the objects of S3 that Glue reads for the job.
        read: folders that Glue reads for the job.
        written: folders that Glue writes for the job.
        statements: further permissions of the job.
        py_files: URIs of modules, in addition to those of the pipeline.
        not_secret: argument to why its value may be public although it looks like a secret.
    """

    texts: dict[str, str] = field(default_factory=dict)
    objects: list[str] = field(default_factory=list)
    read: list[Dataset] = field(default_factory=list)
    written: list[Dataset] = field(default_factory=list)
    statements: list[permissions.Statement] = field(default_factory=list)
    py_files: list[str] = field(default_factory=list)
    not_secret: dict[str, str] = field(default_factory=dict)


def own_arguments(
    scope: Construct,
    job: str,
    given: GlueArguments,
    root: Path,
    command: str,
    cluster: Cluster | None,
    tables: Sequence[str],
) -> OwnArguments:
    """Return the parts that Glue's own arguments add to a job; project files become assets.

    Args:
        scope: the construct of the job.
        job: its name.
        given: the arguments.
        root: folder of the project.
        command: kind of job: `glueetl`, `gluestreaming`, `pythonshell`.
        cluster: Spark's cluster; None without Spark.
        tables: tables of the Data Catalog that it uses, each as `database.table`.

    Raises:
        JobDefinitionError: Glue does not know an argument in this kind of job or version, two
            arguments exclude each other, a file is missing, or a string shows a secret.
    """
    _check(job, given, command, cluster)
    own = OwnArguments()
    for known, value in given.given():
        # Files become assets, which need the scope; every other form is a string at once.
        if known.form in (Form.FILE, Form.FILES):
            values = value if known.form is Form.FILES else [value]
            text = ",".join(_uris(scope, job, known.field, values, root, own))
        else:
            text = _text(job, known, value)
            own.written.extend([value] if known.form is Form.FOLDER else [])
        own.texts.update({known.name: text} if text else {})
        if why := reasons(value if isinstance(value, Mapping) else {"": value}):
            own.not_secret[known.name] = "; ".join(why.values())
    # Those of the pipeline come first, in the same argument.
    own.py_files.extend(filter(None, own.texts.pop("--extra-py-files", "").split(",")))
    own.texts.update(_open(job, "other", given.other))
    own.not_secret.update(reasons(given.other or {}))
    own.statements.extend(_statements(scope, job, given, tables))
    return own


def _statements(
    scope: Construct, job: str, given: GlueArguments, tables: Sequence[str]
) -> Iterator[permissions.Statement]:
    """Yield the permissions that arguments need beyond those on files."""
    if given.glue_datacatalog:
        yield from permissions.use_as_metastore(cdk.Stack.of(scope), tables)
    if given.lakeformation_fine_grained_access:
        yield from permissions.get_lake_formation_data()
    if key := given.auto_upgrade_metadata_kms_key:
        of, name = f"job '{job}'", "auto_upgrade_metadata_kms_key"
        check_here(of, cdk.Stack.of(scope), name, key, kinds=KEY_PLACES)
        yield from permissions.use_data_keys([str(key)], may_write=True)
    if given.observability_metrics:
        yield from permissions.put_metrics()


def _text(job: str, known: GlueArgument, value: Any) -> str:
    """Return the value of a field as Glue reads it, checked for secrets; empty for the default."""
    match known.form:
        case Form.ON:
            return "true" if value else ""
        case Form.ON_OR_OFF:
            return str(value).lower()
        case Form.LIST:
            return ",".join(value)
        case Form.FOLDER:
            return str(value.uri)
        case Form.SETTINGS:
            opened = _open(job, known.field, value)
            return " --conf ".join(f"{name}={text}" for name, text in opened.items())
        case Form.VARIABLES:
            return variables_text(_open(job, known.field, value))
    return _open(job, known.field, {"option": value})["option"]


def variables_text(variables: Mapping[str, str]) -> str:
    """Return environment variables in Glue's form: `K=V,K="a, b"`."""
    return ",".join(
        f'{name}="{value}"' if " " in value or "," in value else f"{name}={value}"
        for name, value in variables.items()
    )


def _open(job: str, name: str, texts: Mapping[str, object] | None) -> dict[str, str]:
    opened = check_open_strings(f"job '{job}' has in {name} of its glue_arguments", texts or {})
    return {key: str(value) for key, value in opened.items()}


def _uris(
    scope: Construct,
    job: str,
    name: str,
    values: Sequence[str | Path | Dataset],
    root: Path,
    own: OwnArguments,
) -> list[str]:
    """Return the addresses of files and folders, and note the job's permissions on them."""
    uris = []
    for number, value in enumerate(values):
        if isinstance(value, Dataset):
            own.read.append(value)
            uris.append(value.uri)
            continue
        if isinstance(value, Path):
            file = _project_file(job, name, root, value)
            bucket, key = named_asset(scope, f"{name.title().replace('_', '')}{number}", file)
        else:
            bucket, _, key = value.removeprefix("s3://").partition("/")
        uris.append(f"s3://{bucket}/{key}")
        own.objects.append(object_arn(cdk.Stack.of(scope), f"{bucket}/{key}"))
    return uris


def _project_file(job: str, name: str, root: Path, file: Path) -> Path:
    path = root / file
    wrong = no_file_of(root, path)
    if not wrong and not OBJECT.fullmatch(f"s3://bucket/{path.name}"):
        wrong = "has a name with a comma, a space or a wildcard; rename it"
    elif not wrong and not path.suffix:
        wrong = "has a name without an extension, which a deployment would change; rename it"
    if wrong:
        raise JobDefinitionError(
            f"job '{job}' has the file {str(file)!r} in {name}, which {wrong}, or correct the path"
        )
    return path


def _check(job: str, given: GlueArguments, command: str, cluster: Cluster | None) -> None:
    """Raise unless Glue knows every given argument in this version and kind of job."""
    for known, _ in given.given():
        has = f"job '{job}' has {known.field} in its glue_arguments ({known.name}), which "
        if command not in known.commands:
            raise JobDefinitionError(
                f"{has}a job of the command {command} does not have; allowed: jobs of the command "
                f"{', '.join(known.commands)}; leave it out"
            )
        if cluster and not known.is_known_by(cluster.glue_version):
            first, last = known.since or "the first", known.until or "the newest"
            raise JobDefinitionError(
                f"{has}Glue {cluster.glue_version} does not know; allowed: versions from {first} "
                f"to {last}; leave it out, or set another glue_version in runtime="
            )
    for argument, other, remedy in _exclusions(given, cluster):
        raise JobDefinitionError(
            f"job '{job}' has {argument} in its glue_arguments and {other}; {remedy}"
        )


def _exclusions(given: GlueArguments, cluster: Cluster | None) -> Iterator[tuple[str, str, str]]:
    """Yield mutually exclusive settings: an argument, the other, and the remedy."""
    # Sources: https://docs.aws.amazon.com/glue/latest/dg/security-lf-enable-considerations.html,
    # https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-python-libraries.html
    if cluster:
        yield from _unfit(given, cluster)
    if given.user_jars_first and not given.extra_jars:
        yield "user_jars_first", "no extra_jars", "name them, or leave it out"
    if given.lakeformation_fine_grained_access:
        name = "lakeformation_fine_grained_access"
        if given.extra_jars:
            yield name, "extra_jars", "Lake Formation refuses extra jars; drop one"
        if cluster and cluster.number_of_workers < MIN_LAKE_FORMATION_WORKERS:
            remedy = f"allowed: {MIN_LAKE_FORMATION_WORKERS} workers or more; raise it"
            yield name, f"number_of_workers {cluster.number_of_workers}", remedy
    if given.python_virtual_env and given.python_virtual_env_cache:
        yield "python_virtual_env", "python_virtual_env_cache", "Glue takes one; leave one out"
    if given.python_virtual_env_version and not given.python_virtual_env_cache:
        yield "python_virtual_env_version", "no python_virtual_env_cache", "name it, or leave it"


def _unfit(given: GlueArguments, cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    """Yield settings that the workers or the version do not allow."""
    most = int(2 * VCPUS_PER_DPU * cluster.dpus_of_worker)
    if given.executor_cores is not None and given.executor_cores > most:
        has = f"workers of the type {cluster.worker_type}"
        yield f"executor_cores {given.executor_cores}", has, f"allowed: up to {most}; lower it"
    if given.auto_upgrade_metadata_kms_key and cluster.glue_version != AUTO:
        has = f"glue_version {cluster.glue_version!r}"
        yield "auto_upgrade_metadata_kms_key", has, f"only {AUTO!r} is upgraded; leave one out"

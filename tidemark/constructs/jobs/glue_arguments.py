"""Glue's own arguments of a job: typed, checked at declaration, merged field by field."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from aws_cdk import aws_kms as kms

from tidemark.constructs.dataset import Dataset, check_no_table
from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.glue_arguments import (
    DATALAKE_FORMATS,
    GLUE_ARGUMENTS,
    LOG_STREAM,
    UNDOCUMENTED,
    Form,
    GlueArgument,
)
from tidemark.model.checked import checked, wrong
from tidemark.model.plain_secrets import NotSecret

# One object of S3, whose bucket may be known at deployment only. The address becomes part of a
# comma-separated list and of ARNs, where * and ? are wildcards.
OBJECT = re.compile(r"s3://([\w.${}\[\]-]+)/([\w.+=!@/-]*[\w.+=!@-])", re.ASCII)
PART, TOKEN = r"[\w.${}\[\]-]+", r"\$\{Token\[[\w.-]+\]\}"
# Source: https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades-security-for-auto-upgrade.html
KEY_ARN = re.compile(rf"arn:{PART}:kms:{PART}:{PART}:key/{PART}|{TOKEN}", re.ASCII)
CONF_NAME = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)
VARIABLE = re.compile(r"CUSTOMER_\w+", re.ASCII)
ONE_LINE = re.compile(r"[^\r\n]*")
# Glue splits --conf at spaces, and documents no quoting; a variable may be quoted, but by
# rules of bash that Glue does not name.
NO_SPACE = re.compile(r"[^\s'\"]+")
VALUE = re.compile(r"[^\r\n'\"\\]*")


@checked
@dataclass(frozen=True, kw_only=True)
class GlueArguments:
    """Arguments that Glue itself reads, by their documented names.

    None leaves an argument to the pipeline, and then to Glue. A job's own value wins over its
    pipeline's; `conf`, variables and `other` are merged name by name. Supported versions, and the
    effect on this machine: docs/glue-arguments.md.
    Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html

    Attributes:
        conf: settings of Spark, name to value; a value has no spaces or quotes.
        datalake_formats: table formats whose jars Glue adds: `iceberg`, `delta`, `hudi`.
        glue_datacatalog: True lets Spark SQL use the Data Catalog as its metastore; the job may
            then read its databases `default` and `global_temp`, create the first, and find the
            tables in `tables`.
        lakeformation_fine_grained_access: True lets Lake Formation filter what Spark reads from
            tables; at least 4 workers, no extra jars.
        observability_metrics: True publishes metrics of skew, errors and throughput.
        job_insights: False turns off the analysis of failed runs.
        spark_ui: where Glue writes the event logs for a Spark history server; the job may
            write there.
        log_stream_prefix: prefix of the log streams instead of the id of the run; all runs of the
            job then share them.
        extra_jars: jars for driver and executors, each a file of the project or an object of S3.
        extra_files: files and folders copied into the working directory of the driver.
        extra_py_files: further .py, .zip or .whl files for the Python path, in addition to those
            the pipeline ships.
        user_jars_first: True lets the extra jars win over those of Glue.
        python_modules_installer_option: pip options for `python_modules`, as on its command
            line.
        python_virtual_env: packed virtual environment, .tar.gz, that replaces all packages.
        python_virtual_env_cache: where Glue stores the environment it builds from `python_modules`;
            the job may write there.
        python_virtual_env_version: a new value rebuilds that environment.
        s3_parquet_optimized_committer: False writes Parquet without the committer of EMRFS.
        executor_cores: concurrent tasks in an executor.
        disable_proxy: True sends calls to AWS services through the network of the connection.
        auto_scale_within_microbatch: False scales streaming jobs between batches only.
        auto_upgrade_metadata_kms_key: the symmetric KMS key, no alias, or its full ARN, that
            encrypts what an automatic upgrade keeps of a job with AUTO; the job may use it.
        driver_variables: environment variables of the driver; names start with CUSTOMER_.
        executor_variables: the same for the executors.
        other: arguments that are newer than this list, with their dashes: `--new-argument`.

    Raises:
        JobDefinitionError: Glue would refuse or ignore a value.

    Example:
        >>> GlueArguments(datalake_formats=["iceberg"], job_insights=True).datalake_formats
        ['iceberg']
    """

    conf: Mapping[str, str | NotSecret] | None = None
    datalake_formats: Sequence[str] | None = None
    glue_datacatalog: bool | None = None
    lakeformation_fine_grained_access: bool | None = None
    observability_metrics: bool | None = None
    job_insights: bool | None = None
    spark_ui: Dataset | None = None
    log_stream_prefix: str | None = None
    extra_jars: Sequence[str | Path] | None = None
    extra_files: Sequence[str | Path | Dataset] | None = None
    extra_py_files: Sequence[str | Path] | None = None
    user_jars_first: bool | None = None
    python_modules_installer_option: str | NotSecret | None = None
    python_virtual_env: str | Path | None = None
    python_virtual_env_cache: Dataset | None = None
    python_virtual_env_version: str | None = None
    s3_parquet_optimized_committer: bool | None = None
    executor_cores: int | None = None
    disable_proxy: bool | None = None
    auto_scale_within_microbatch: bool | None = None
    auto_upgrade_metadata_kms_key: kms.IKey | str | None = None
    driver_variables: Mapping[str, str | NotSecret] | None = None
    executor_variables: Mapping[str, str | NotSecret] | None = None
    other: Mapping[str, str | NotSecret] | None = field(default=None)

    def __post_init__(self) -> None:
        for name in ("spark_ui", "python_virtual_env_cache"):
            check_no_table("GlueArguments", name, getattr(self, name))
        for name, (keys, values, allowed) in MAPPINGS.items():
            self._mapping(name, keys, values, allowed)
        for known in FILES:
            self._files(known)
        key = self.auto_upgrade_metadata_kms_key
        if key is not None and not isinstance(key, str):
            object.__setattr__(self, "auto_upgrade_metadata_kms_key", key.key_arn)
        for name, (form, allowed) in FORMS.items():
            self._check_form(name, form, allowed)
        formats = self.datalake_formats
        if formats is not None and not (
            set(formats) <= set(DATALAKE_FORMATS) and len(set(formats)) == len(formats)
        ):
            self._refuse("datalake_formats", formats, f"a list of {', '.join(DATALAKE_FORMATS)}")
        cores = self.executor_cores
        if cores is not None and cores < 1:
            self._refuse("executor_cores", cores, "an integer from 1")

    def given(self) -> Iterator[tuple[GlueArgument, Any]]:
        """Yield the documented arguments that have a value."""
        for known in GLUE_ARGUMENTS.values():
            value = getattr(self, known.field) if known.field else None
            if value is not None:
                yield known, value

    def _refuse(self, name: str, value: object, allowed: str) -> None:
        raise wrong("GlueArguments", name, value, allowed)

    def _check_form(self, name: str, form: re.Pattern[str], allowed: str) -> None:
        text = plain_text(value := getattr(self, name))
        if text is not None and not form.fullmatch(text):
            self._refuse(name, value, allowed)

    def _mapping(
        self, name: str, keys: re.Pattern[str], values: re.Pattern[str], allowed: str
    ) -> None:
        for key, value in (getattr(self, name) or {}).items():
            if not (keys.fullmatch(key) and values.fullmatch(plain_text(value))):
                # The value may be a secret, which an error would reveal.
                self._refuse(name, f"{key!r} with a value of type {type(value).__name__}", allowed)
            if name == "other" and key in GLUE_ARGUMENTS:
                raise JobDefinitionError(
                    f"GlueArguments has {key!r} in other, which Glue documents; {how_to_set(key)}"
                )

    def _files(self, known: GlueArgument) -> None:
        values = getattr(self, known.field) or ()
        values = (values,) if isinstance(values, str | Path) else values
        for value in values:
            if isinstance(value, str) and not OBJECT.fullmatch(value):
                self._refuse(known.field, value, FILE)
            if isinstance(value, str | Path) and not str(value).endswith(known.ends):
                ends = ", ".join(known.ends)
                self._refuse(known.field, value, f"a file whose name ends in {ends}")
        if len(set(values)) < len(values):
            self._refuse(known.field, values, f"a list, each {FILE}, once")


FILE = "a Path of a file in the project, or the s3:// address of one object without , * ? or spaces"
FILES = [known for known in GLUE_ARGUMENTS.values() if known.form in (Form.FILE, Form.FILES)]
FORMS = {
    "log_stream_prefix": (LOG_STREAM, "up to 400 characters, no space, : or *"),
    "auto_upgrade_metadata_kms_key": (KEY_ARN, "a KMS key or its full ARN, no alias"),
    "python_virtual_env_version": (re.compile(r"[\w.+-]+"), "letters, digits, ._+-"),
    "python_modules_installer_option": (
        re.compile(r"-[^\r\n]*"),
        "options of pip in one line, the first with its dash",
    ),
}
MAPPINGS = {
    "conf": (
        CONF_NAME,
        NO_SPACE,
        "names of Spark settings to strings without spaces or quotes, which Glue would cut",
    ),
    **dict.fromkeys(
        ("driver_variables", "executor_variables"),
        (VARIABLE, VALUE, "names that start with CUSTOMER_ to strings in one line"),
    ),
    "other": (UNDOCUMENTED, ONE_LINE, "names with two dashes, --like-this, to strings in one line"),
}


def plain_text(value: Any) -> Any:
    """Return a string that may be public as the string that it is."""
    return value.text if isinstance(value, NotSecret) else value


def how_to_set(name: str) -> str:
    """Return how to set an argument of Glue, or why that is impossible, for errors."""
    known = GLUE_ARGUMENTS[name]
    return f"set glue_arguments= with {known.field}=" if known.field else f"see {known.instead}"


def pipeline_arguments(pipeline: GlueArguments | None, command: str) -> GlueArguments | None:
    """Return the pipeline's arguments that apply to jobs of a command."""
    if pipeline is None:
        return None
    foreign = {known.field for known in GLUE_ARGUMENTS.values() if command not in known.commands}
    return replace(pipeline, **dict.fromkeys(foreign - {""}))


def merged(base: GlueArguments | None, own: GlueArguments | None) -> GlueArguments:
    """Return the arguments of a job: its own, and field by field those of its pipeline."""
    if base is None or own is None:
        return own or base or GlueArguments()
    changes: dict[str, object] = {}
    for argument in fields(own):
        value, default = getattr(own, argument.name), getattr(base, argument.name)
        if value is None:
            continue
        if isinstance(value, Mapping) and isinstance(default, Mapping):
            value = {**default, **value}
        changes[argument.name] = value
    return replace(base, **changes)  # type: ignore[arg-type]  # by the names of its own fields

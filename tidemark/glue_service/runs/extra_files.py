"""Puts the extra files of a job run where its script, its Python and its JVM look for them.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tidemark.errors import TidemarkError
from tidemark.glue_job.iceberg.jars import datalake_jars, iceberg_jars
from tidemark.glue_job.iceberg.settings import local_settings
from tidemark.glue_job.metastore.connect import OWN_CATALOG
from tidemark.glue_service.runs.arguments import listed
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.installed import Spark
from tidemark.model.assembly.definitions import JobDefinition

# Files in the working folder of a local run that do not exist on AWS.
RUN_FILES = {"stdout.log", "stderr.log", "script-stderr.log", "error.json", "spark.conf"}
RUN_FILES |= {"cluster", "derby.log", "modules", "spark-events", "tmp", OWN_CATALOG}


def file_at(home: Home, address: str) -> Path:
    """Return the local file or folder of an ``s3://`` URI or a path."""
    return home.local_path(address) if "://" in address else Path(address).absolute()


def existing(job: JobDefinition, uri: str, path: Path) -> Path:
    """Return the local file of an address that a job names."""
    if not path.is_file():
        raise TidemarkError(f"job {job.name} names {uri}, but there is no such file at {path}")
    return path


def python_path(
    home: Home, job: JobDefinition, arguments: Mapping[str, str], folder: Path
) -> list[Path]:
    """Return the entries for the Python path: each zip, and a folder with the modules."""
    entries = []
    modules = folder / "modules"
    for uri in listed(arguments, "--extra-py-files"):
        file = existing(job, uri, file_at(home, uri))
        if file.suffix == ".py":
            modules.mkdir(exist_ok=True)
            shutil.copy(file, modules)
            file = modules
        entries.append(file)
    return entries


def copy_extra_files(
    home: Home, job: JobDefinition, arguments: Mapping[str, str], folder: Path
) -> None:
    """Copy ``--extra-files`` into the working folder of a run; for a folder its content."""
    for uri in listed(arguments, "--extra-files"):
        source = file_at(home, uri)
        if source.is_dir():
            files = sorted(path for path in source.rglob("*") if path.is_file())
        else:
            files = [existing(job, uri, source)]
        for file in files:
            name = file.relative_to(source) if source.is_dir() else Path(file.name)
            target = folder / name
            if target.exists() or name.parts[0] in RUN_FILES:
                raise TidemarkError(
                    f"job {job.name} names {uri} in --extra-files, but a run already has a file "
                    f"{str(name)!r} in its working folder; rename one"
                )
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


@dataclass(frozen=True)
class Jars:
    """The jars of a run beside those of Spark.

    Attributes:
        formats: those of table formats, for the class path of its JVM.
        others: those that its Spark adds.
        own_jvm: why no other run can use the JVM; empty if others can.
    """

    formats: tuple[Path, ...] = ()
    others: tuple[Path, ...] = ()
    own_jvm: str = ""


def jars_of(home: Home, job: JobDefinition, arguments: Mapping[str, str], spark: Spark) -> Jars:
    """Return the jars for ``--extra-jars`` and ``--datalake-formats``.

    Iceberg's jar is on the JVM's own class path, where the classes are that stand in for AWS's.
    """
    given = [existing(job, uri, file_at(home, uri)) for uri in listed(arguments, "--extra-jars")]
    added = datalake_jars(job.name, arguments, given, spark)
    own, formats = iceberg_jars(given), iceberg_jars(added)
    others = [jar for jar in (*given, *added) if jar not in (*own, *formats)]
    why = f"--extra-jars names {own[0].name}" if own else ""
    return Jars((*own, *formats), tuple(others), why)


def jar_settings(
    jars: Jars, arguments: Mapping[str, str], settings: Mapping[str, str]
) -> dict[str, str]:
    """Return a run's Spark settings, with those for its jars and data lakes.

    Spark puts `spark.jars` after its own classes, `spark.driver.extraClassPath` before them;
    executors that are other processes get what the driver has.
    """
    settings = {**settings, **local_settings(settings)}
    if not jars.others:
        return settings
    if arguments.get("--user-jars-first") == "true":
        name, separator = "spark.driver.extraClassPath", os.pathsep
        added = [str(jar) for jar in jars.others]
    else:
        name, separator, added = "spark.jars", ",", [jar.as_uri() for jar in jars.others]
    own = [settings[name]] if settings.get(name) else []
    return {**settings, name: separator.join([*own, *added])}

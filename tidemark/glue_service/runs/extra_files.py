"""Puts the extra files of a job run where its script, its Python and its JVM look for them.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-arguments.html
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from tidemark.errors import TidemarkError
from tidemark.glue_job.metastore.connect import OWN_CATALOG
from tidemark.glue_job.process.datalake_formats import datalake_jars, local_settings
from tidemark.glue_service.runs.arguments import listed
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.installed import Spark
from tidemark.model.assembly.definitions import JobDefinition

# What stands in the working folder of a run here, and not on AWS.
OF_THE_RUN = {"stdout.log", "stderr.log", "script-stderr.log", "error.json", "spark.conf"}
OF_THE_RUN |= {"derby.log", "modules", "spark-events", "tmp", OWN_CATALOG}


def place_of(home: Home, address: str) -> Path:
    """Return the file or folder behind an ``s3://`` URI, or a path of this machine as it is."""
    return home.local_path(address) if "://" in address else Path(address).absolute()


def existing(job: JobDefinition, uri: str, path: Path) -> Path:
    """Return the file of this machine that a job names by its address."""
    if not path.is_file():
        raise TidemarkError(f"job {job.name} names {uri}, and there is no such file at {path}")
    return path


def python_path(
    home: Home, job: JobDefinition, arguments: Mapping[str, str], folder: Path
) -> list[Path]:
    """Return what to put on the Python path: each zip, and a folder with the modules."""
    found = []
    modules = folder / "modules"
    for uri in listed(arguments, "--extra-py-files"):
        file = existing(job, uri, place_of(home, uri))
        if file.suffix == ".py":
            modules.mkdir(exist_ok=True)
            shutil.copy(file, modules)
            file = modules
        found.append(file)
    return found


def copy_extra_files(
    home: Home, job: JobDefinition, arguments: Mapping[str, str], folder: Path
) -> None:
    """Copy ``--extra-files`` into the working folder of a run; of a folder what is in it."""
    for uri in listed(arguments, "--extra-files"):
        source = place_of(home, uri)
        if source.is_dir():
            files = sorted(path for path in source.rglob("*") if path.is_file())
        else:
            files = [existing(job, uri, source)]
        for file in files:
            name = file.relative_to(source) if source.is_dir() else Path(file.name)
            target = folder / name
            if target.exists() or name.parts[0] in OF_THE_RUN:
                raise TidemarkError(
                    f"job {job.name} names {uri} in --extra-files, and a run has a file "
                    f"{str(name)!r} in its working folder already; rename one"
                )
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


def jar_settings(
    home: Home,
    job: JobDefinition,
    arguments: Mapping[str, str],
    settings: Mapping[str, str],
    spark: Spark,
) -> dict[str, str]:
    """Return the settings of Spark of a run, with those that add ``--extra-jars`` and data lakes.

    Spark puts `spark.jars` behind its own classes, `spark.driver.extraClassPath` before them;
    driver and executors are one process here.
    """
    jars = [existing(job, uri, place_of(home, uri)) for uri in listed(arguments, "--extra-jars")]
    jars += datalake_jars(job.name, arguments, jars, spark)
    settings = {**settings, **local_settings(settings)}
    if not jars:
        return settings
    if arguments.get("--user-jars-first") == "true":
        name, separator, added = "spark.driver.extraClassPath", os.pathsep, [str(j) for j in jars]
    else:
        name, separator, added = "spark.jars", ",", [jar.as_uri() for jar in jars]
    own = [settings[name]] if settings.get(name) else []
    return {**settings, name: separator.join([*own, *added])}

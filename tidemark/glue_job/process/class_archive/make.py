"""Builds the class archive for the Java of job runs; a separate program."""

import os
import re
import subprocess
import tempfile
from collections.abc import Container, Iterable
from pathlib import Path
from zipfile import ZipFile

from tidemark.errors import TidemarkError
from tidemark.glue_job.process.class_archive.archive import NO_CONF, archive_path, archive_prefix
from tidemark.glue_job.process.spark import FOR_SECONDS, write_spark_conf
from tidemark.local_state.home import Home
from tidemark.local_state.machine.installation import FOLDER
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import Spark, own_spark

SAMPLE_JOB = Path(__file__).with_name("sample_job.py")
FOREIGN_PREFIXES = ("SPARK_", "PYSPARK_", "PYTHON", "JAVA_TOOL_OPTIONS")
VERSIONED = re.compile(r"META-INF/versions/\d+/(.+)\.class")
LAMBDA, INVOKER = "@lambda-proxy ", "@lambda-form-invoker "
SHOWN_CHARACTERS = 2000


def make_archive(java_home: Path, spark: Spark | None = None) -> Path:
    """Make the archive of the classes that the sample job loads, unless it is there."""
    spark = spark or own_spark()
    archive = archive_path(java_home, spark)
    if archive.is_file():
        return archive
    NO_CONF.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as name:
        folder = Path(name)
        classes, unfinished = folder / "classes", folder / archive.name
        class_path = _record_classes(java_home, spark, folder, classes)
        recorded = classes.read_text(encoding="utf-8").splitlines()
        lines = archivable(recorded, _versioned_classes(class_path))
        classes.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        _run(
            [
                str(java_home / "bin" / "java"),
                "-Xshare:dump",
                "-Xlog:disable",
                f"-XX:SharedClassListFile={classes}",
                f"-XX:SharedArchiveFile={unfinished}",
                "-cp",
                class_path,
            ],
            {},
        )
        for old in FOLDER.glob(f"{archive_prefix(java_home, spark)}*.jsa"):
            old.unlink(missing_ok=True)
        unfinished.replace(archive)
    return archive


def _record_classes(java_home: Path, spark: Spark, folder: Path, classes: Path) -> str:
    """Write the names of the classes that the sample job loads; return its class path."""
    home = Home.open(folder / "home")
    (home.lake / "sample").mkdir()
    options = f'"-XX:DumpLoadedClassList={classes}" {FOR_SECONDS}'  # the classes are the same
    record = {"spark.driver.extraJavaOptions": options}
    variables = write_spark_conf(folder, home, java_home, record, spark)
    class_path = folder / "class-path"
    _run([str(spark.python), str(SAMPLE_JOB), str(class_path)], variables)
    return class_path.read_text(encoding="utf-8")


def archivable(recorded: Iterable[str], versioned: Container[str]) -> list[str]:
    """Return the lines of a class list that can be archived.

    A JVM that records itself or has an agent asks for the file of an archived class again, and
    Java 17 crashes without one: this leaves out the invokers that a JVM generates, and classes
    (``versioned``, and their lambdas) that a jar has for newer versions of Java only.
    """
    return [
        line
        for line in recorded
        if not line.startswith(INVOKER)
        and line.removeprefix(LAMBDA).partition(" ")[0] not in versioned
    ]


def _versioned_classes(class_path: str) -> set[str]:
    jars = [Path(jar) for jar in class_path.split(os.pathsep) if jar.endswith(".jar")]
    files = [name for jar in jars for name in ZipFile(jar).namelist()]
    matches = (VERSIONED.fullmatch(name) for name in files)
    return {match[1] for match in matches if match}


def _run(command: list[str], variables: dict[str, str]) -> None:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN_PREFIXES)}
    run = subprocess.run(  # noqa: S603 (fixed commands)
        command, env={**inherited, **variables}, capture_output=True, text=True
    )
    if run.returncode != 0:
        last = (run.stdout + run.stderr)[-SHOWN_CHARACTERS:]
        raise TidemarkError(f"`{command[0]}` ended with {run.returncode}:\n{last}")


if __name__ == "__main__":
    make_archive(find_java_home())

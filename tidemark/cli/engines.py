"""The Sparks of this machine: made before a job needs one, and `engine list|add|remove`."""

from collections.abc import Iterable, Mapping

import click
from rich.console import Console

from tidemark.cli.progress import step
from tidemark.cli.terminal import Terminal, print_lines
from tidemark.errors import TidemarkError
from tidemark.glue_job.process.class_archive.archive import may_be_renewed
from tidemark.glue_job.process.class_archive.make import make_archive
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import Spark, installed_spark, pyspark_of
from tidemark.local_state.sparks.make import make_environment, remove_environment
from tidemark.model.assembly.glue_versions import GLUE_VERSIONS, RUN_HERE


def prepared_spark(version: str) -> Spark:
    """Return the Spark of a version of Glue; make its environment first, once, and show how far.

    A Python that is not that of Glue is said on stderr.
    """
    console = Terminal(stderr=True)
    spark = installed_spark(version) or _made(version, console)
    if may_be_renewed(find_java_home(), spark):
        _keep_classes(spark, console)
    if warning := python_warning(version, spark):
        console.print(f"warning: {warning}")
    return spark


def _made(version: str, console: Console) -> Spark:
    with step(console, f"Installing Spark {pyspark_of(version)} for Glue {version}, once"):
        spark = make_environment(version)
    _keep_classes(spark, console)
    return spark


def _keep_classes(spark: Spark, console: Console) -> None:
    try:
        with step(console, "Keeping its classes for a faster start of jobs"):
            make_archive(find_java_home(), spark)
    except (TidemarkError, OSError) as error:  # a full disk, for example: the runs do not need it
        console.print(f"Jobs will start slower: {error}")


def prepare_sparks(versions: Iterable[str]) -> None:
    """Make the environments that are not there yet."""
    for version in sorted(set(versions)):
        prepared_spark(version)


def python_warning(version: str, spark: Spark) -> str | None:
    """Return how the Python of a Spark differs from that of Glue; None if it does not."""
    wanted = GLUE_VERSIONS[version].python
    if spark.python_version == wanted or spark.is_own:
        return None
    own, glue = (".".join(map(str, parts)) for parts in (spark.python_version, wanted))
    return (
        f"Glue {version} has Python {glue}, and this machine runs its jobs on Python {own}: a "
        f"difference between the two is not seen here; install Python {glue}, then run "
        f"`tidemark engine remove {version}` and `tidemark engine add {version}`"
    )


def list_engines(output: str) -> None:
    rows = []
    for version in RUN_HERE:
        spark = installed_spark(version)
        rows.append(
            {
                "glueVersion": version,
                "pyspark": spark.version if spark else pyspark_of(version),
                "python": ".".join(map(str, spark.python_version)) if spark else None,
                "interpreter": str(spark.python) if spark else None,
            }
        )
    print_lines(output, rows, map(_engine_line, rows))


def _engine_line(row: Mapping[str, str | None]) -> str:
    place = f"Python {row['python']}  {row['interpreter']}"
    if row["python"] is None:
        place = f"not made yet: tidemark engine add {row['glueVersion']}"
    return f"Glue {row['glueVersion']}  Spark {row['pyspark']}  {place}"


def add(version: str) -> None:
    click.echo(f"Glue {version} runs on {prepared_spark(version)}")


def remove(version: str) -> None:
    was_there = remove_environment(version)
    click.echo(f"Glue {version}: " + ("its environment is deleted" if was_there else "has none"))

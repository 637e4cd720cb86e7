"""Makes what the versions of Glue of a command need, with progress, before it runs a job."""

from collections.abc import Iterable

from rich.console import Console

from tidemark.cli.progress import step
from tidemark.cli.terminal import Terminal
from tidemark.errors import TidemarkError
from tidemark.glue_job.process.class_archive.archive import may_be_renewed
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import Spark, installed_spark, pyspark_of
from tidemark.model.assembly.glue_versions import GLUE_VERSIONS


def prepared_spark(version: str) -> Spark:
    """Return the Spark of a version of Glue; make its environment first, once, and show how far.

    A Python that is not that of Glue is said on stderr.
    """
    console = Terminal(stderr=True)
    spark = installed_spark(version) or _made(version, console)
    if may_be_renewed(find_java_home(), spark):
        _keep_classes(spark, console)
    if warning := python_warning(version, spark):
        console.print(f"warning: {warning}", highlight=False, soft_wrap=True)
    return spark


def _made(version: str, console: Console) -> Spark:
    from tidemark.local_state.sparks.make import make_environment

    with step(console, f"Installing Spark {pyspark_of(version)} for Glue {version}, once"):
        spark = make_environment(version)
    _keep_classes(spark, console)
    return spark


def _keep_classes(spark: Spark, console: Console) -> None:
    from tidemark.glue_job.process.class_archive.make import make_archive

    try:
        with step(console, "Keeping its classes for a faster start of jobs"):
            make_archive(find_java_home(), spark)
    except (TidemarkError, OSError) as error:  # a full disk, for example: the runs do not need it
        console.print(f"Jobs will start slower: {error}", highlight=False)


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
        f"`tidemark local engine remove {version}` and `tidemark local engine add {version}`"
    )

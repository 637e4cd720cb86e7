"""The commands about the Sparks of this machine: `local engine list|add|remove`."""

import json

import click

from tidemark.cli.group import Verbs
from tidemark.cli.where import only_looks
from tidemark.model.assembly.glue_versions import RUN_HERE

VERSION = click.Choice(RUN_HERE)
JSON_HELP = "Print a table for people, or JSON."


@click.group(cls=Verbs)
def engine() -> None:
    """Manage the Sparks that run jobs here, one for each line of Glue versions."""


@engine.command("list")
@click.option("--format", "output", type=click.Choice(["table", "json"]), default="table")
@only_looks
def list_engines(output: str) -> None:
    """Show the versions of Glue that run here, and the Spark and the Python of each."""
    from tidemark.local_state.sparks.installed import installed_spark, pyspark_of

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
    if output == "json":
        click.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        place = (
            f"Python {row['python']}  {row['interpreter']}"
            if row["python"]
            else f"not made yet: tidemark local engine add {row['glueVersion']}"
        )
        click.echo(f"Glue {row['glueVersion']}  Spark {row['pyspark']}  {place}")


@engine.command()
@click.argument("version", type=VERSION)
def add(version: str) -> None:
    """Make the environment of Glue VERSION: a Python with its PySpark, by uv, with hashes.

    It is made once, about 600 MB, in the folder of this installation. A run that needs it makes it
    too.
    """
    from tidemark.cli.engines import prepared_spark

    click.echo(f"Glue {version} runs on {prepared_spark(version)}")


@engine.command()
@click.argument("version", type=VERSION)
def remove(version: str) -> None:
    """Delete the environment of Glue VERSION; what jobs have written stays."""
    from tidemark.local_state.sparks.make import remove_environment

    was_there = remove_environment(version)
    click.echo(f"Glue {version}: " + ("its environment is deleted" if was_there else "has none"))

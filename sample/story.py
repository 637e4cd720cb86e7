"""Tells the story: a full load, an increment, a run with nothing new, and the proof."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from sample.land import land_locally
from sample.landing import (
    correction_objects,
    flight_objects,
    landing_day,
    parse_days,
    weather_objects,
)
from sample.recompute import compare, rescued_rows, worst_routes
from tidemark.cli.progress import JobProgress, grouped, print_outcome, step
from tidemark.errors import TidemarkError
from tidemark.glue_service.commands import deploy, load_app
from tidemark.glue_service.one_run import run_workflow
from tidemark.glue_service.runs.jvms.supply import Jvms, jvms_of
from tidemark.glue_service.workflows.whole_run import WorkflowResult
from tidemark.local_state.home import Home
from tidemark.model.assembly.definitions import Deployment
from tidemark.model.assembly.synthesis import synthesize

NEW_FIELD = "pressure"  # of weather, which its contract keeps beside the columns
DEMO_HOME = ".tidemark-demo"
ROUTES = 10
WORKFLOW = "flights"
INGEST_JOBS = ("ingest-flights", "ingest-weather")
SAMPLE_JOBS = (*INGEST_JOBS, "curate-flights", "publish-delays")  # the story is theirs


@dataclass(frozen=True)
class Plot:
    """Which days land when: the first load, the days after it, and what comes late."""

    first_days: str = "1..14"
    next_days: str = "15..21"
    late_weather: str = "3"
    corrected: str = "10"


class StoryError(TidemarkError):
    """The pipeline did not do what the story promises."""


class Story:
    """The demo's state: where things are and what each run did."""

    def __init__(self, console: Console, assembly: Path, home: Home, jvms: Jvms) -> None:
        self._console = console
        self._home = home
        self._jvms = jvms
        self._app = load_app(assembly)
        self._deployment: Deployment = deploy(self._app, home)
        self.runs: list[tuple[str, WorkflowResult]] = []

    def land(self, what: str, *objects: Mapping[str, bytes]) -> int:
        """Land objects and return the number of flights and observations in them."""
        everything = {key: body for group in objects for key, body in group.items()}
        land_locally(everything, self._deployment, self._home)
        count = sum(map(_data_rows, everything.items()))
        self._console.print(
            f"Landed {what}: {len(everything)} files, {count:,} rows", highlight=False
        )
        return count

    def run(self, title: str) -> WorkflowResult:
        """Run the workflow once and return its result.

        Raises:
            StoryError: a job failed; its error and log were printed.
        """
        self._console.rule(f"[bold]{title}")
        with JobProgress(self._console) as progress:
            result = run_workflow(
                self._app,
                self._home,
                WORKFLOW,
                progress,
                self._jvms,
            )
        print_outcome(self._console, result)
        if not result.is_success:
            raise StoryError(f"{title}: a job failed")
        self.runs.append((title, result))
        return result

    def folder(self, output: str, prefix: str = "") -> Path:
        """Return the folder of this machine behind a bucket that the template outputs."""
        return self._home.lake / self._deployment.outputs[output] / prefix

    def output(self, name: str) -> str:
        """Return an output of the template's stacks."""
        return self._deployment.outputs[name]

    def expect_rescued(self) -> None:
        """Check that raw weather has the new field of its source, where the contract puts it.

        Raises:
            StoryError: no row has it.
        """
        files = self.folder("RawBucketName", "weather") / "**" / "*.parquet"
        count = rescued_rows(files, NEW_FIELD)
        if not count:
            raise StoryError(f"no row of raw weather has the new field {NEW_FIELD}")
        self._console.print(
            f"Raw weather keeps {NEW_FIELD} in _rescued_data of {count:,} rows", highlight=False
        )

    def prove(self) -> None:
        """Compare the mart with a recomputation from everything landed.

        Raises:
            StoryError: they differ.
        """
        mart = self.folder("MartBucketName", "route_delays")
        result = compare(self.folder("LandingBucketName"), mart)
        if not result.is_equal:
            raise StoryError(
                f"the mart differs from a recomputation over everything landed: {result}"
            )
        self._console.print(
            f"[green]✓[/] Checked: the mart's {result.mart_rows:,} rows equal a from-scratch "
            "recomputation over everything landed, row for row.",
            highlight=False,
        )


def _data_rows(item: tuple[str, bytes]) -> int:
    key, body = item
    return body.count(b"\n") - (1 if key.endswith(".csv") else 0)


def tell(story: Story, plot: Plot) -> None:
    """Play the three runs and check each against what was landed.

    Raises:
        StoryError: a job failed, or a run read more or less than what had landed since the last.
    """
    for _ in tell_in_parts(story, plot):
        pass


def tell_in_parts(story: Story, plot: Plot) -> Iterator[None]:
    """Play the three runs one by one; see `tell`."""
    first, following = parse_days(plot.first_days), parse_days(plot.next_days)
    late, corrected = parse_days(plot.late_weather), parse_days(plot.corrected)
    on_time = [day for day in first if day not in late]

    landed = story.land(
        f"{first[0]} to {first[-1]}", flight_objects(first), weather_objects(on_time)
    )
    _expect_ingested(story.run("Run 1: full load"), landed)
    yield
    landed = story.land(
        f"{following[0]} to {following[-1]}, corrections of {corrected[0]}, "
        f"and the late weather file of {late[0]}; weather has a new field, {NEW_FIELD}",
        flight_objects(following),
        correction_objects(corrected[0], landing_day(following[-1])),
        weather_objects([*following, *late], NEW_FIELD),
    )
    _expect_ingested(story.run("Run 2: only what is new"), landed)
    story.expect_rescued()
    yield
    third = story.run("Run 3: nothing new")
    if any(run.rows_read for run in third.job_runs if run.job_name in SAMPLE_JOBS):
        raise StoryError("run 3 read rows although nothing had landed")
    yield


def _expect_ingested(result: WorkflowResult, landed: int) -> None:
    read = sum(r.rows_read or 0 for r in result.job_runs if r.job_name in INGEST_JOBS)
    if read != landed:
        raise StoryError(f"the ingest jobs read {read} rows, but {landed} had landed")


def runs_table(runs: list[tuple[str, WorkflowResult]]) -> Table:
    """Return rows read and written per job, one pair of columns per run."""
    table = Table("job", title="Rows read → written", title_justify="left")
    for title, _ in runs:
        table.add_column(title, justify="right")
    names = [run.job_name for run in runs[0][1].job_runs]
    for name in names:
        cells = [
            f"{grouped(run.rows_read)} → {grouped(run.rows_written)}"
            for _, result in runs
            for run in result.job_runs
            if run.job_name == name
        ]
        table.add_row(name, *cells)
    return table


def routes_table(mart: Path) -> Table:
    """Return the worst routes of the mart by mean departure delay."""
    table = Table("route", title=f"The {ROUTES} worst routes", title_justify="left")
    for column in ("flights", "cancelled", "mean delay"):
        table.add_column(column, justify="right")
    for route in worst_routes(mart, ROUTES):
        table.add_row(
            f"{route.origin} → {route.dest}",
            f"{route.flights}",
            f"{route.cancelled}",
            f"{route.mean_delay_minutes:.1f} min",
        )
    return table


def play(console: Console, home: Home) -> Story:
    """Synthesize, play the three runs on JVMs of one pool, and prove the result."""
    with jvms_of(home, say=console.print) as jvms:
        with step(console, "Synthesizing the CDK app"):
            assembly = synthesize(Path.cwd(), {})
        story = Story(console, assembly, home, jvms)
        tell(story, Plot())
        console.rule("[bold]Proof")
        story.prove()
    return story


def main() -> None:
    """Play the demo in a home of its own, started afresh.

    Raises:
        TidemarkError: a run failed, or the proof does not hold.
    """
    console = Console()
    home = Home.open(Path(DEMO_HOME))  # never TIDEMARK_HOME, for it is emptied
    home.reset()
    story = play(console, home)
    console.print(runs_table(story.runs))
    console.print(routes_table(story.folder("MartBucketName", "route_delays")))
    console.print(
        f"Data, logs and state are in {home.root}", highlight=False, markup=False, soft_wrap=True
    )

"""The sample pipeline: flights and weather of 2013, from landing to a mart of route delays."""

from pathlib import Path

import aws_cdk as cdk
from constructs import Construct

from infra.flights_source import FilesSource, flights_source
from tidemark.constructs import (
    Argument,
    BookmarkOption,
    Column,
    Dataset,
    DateProjection,
    IncrementalJob,
    Lake,
    Pipeline,
    Projection,
    SchemaPolicy,
    StageConfig,
    Table,
)

RAW_WEATHER = """
    report_id BIGINT, origin STRING, year INT, month INT, day INT, hour INT, temp DOUBLE,
    humid DOUBLE, wind_speed DOUBLE, precip DOUBLE, visib DOUBLE, time_hour TIMESTAMP,
    updated_at TIMESTAMP, weather_date DATE
"""


class FlightsStack(cdk.Stack):
    """Creates the workflow `flights` with its jobs, roles and triggers; it keeps no state.

    Attributes:
        pipeline: the pipeline; further jobs are added here.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        stage: StageConfig,
        lake: Lake,
        root: Path,
        env: cdk.Environment,
    ) -> None:
        super().__init__(
            scope, id_, env=env, description=f"Tidemark {stage.name}: the flights pipeline"
        )
        self.pipeline = Pipeline(
            self,
            "Flights",
            name="flights",
            root=root,
            stage=stage,
            watermarks=lake.watermarks,
            key=lake.key,
        )
        landing_weather = Dataset(lake.landing, "weather/", delivered=True)
        raw_flights = Dataset(lake.raw, "flights/")
        raw_weather = Dataset(lake.raw, "weather/", schema=SchemaPolicy.rescue(RAW_WEATHER))
        curated_flights = Dataset(lake.curated, "flights/")
        route_delays = Dataset(
            lake.mart, "route_delays/", published=True, table=_route_delays_table(lake)
        )

        ingest_flights = self._ingest_flights(
            stage, landing=Dataset(lake.landing, "flights/", delivered=True), raw=raw_flights
        )
        ingest_weather = self.pipeline.add_job(
            "ingest-weather",
            script="glue_jobs/ingest_weather.py",
            bookmark=BookmarkOption.ENABLE,
            reads=[landing_weather],
            writes=[raw_weather],
            temp=Dataset(lake.raw, "weather_staging/"),
            arguments={"source_path": landing_weather, "target_path": raw_weather},
        )
        curate_flights = self.pipeline.add_job(
            "curate-flights",
            script="glue_jobs/curate_flights.py",
            bookmark=BookmarkOption.ENABLE,
            after=[ingest_flights, ingest_weather],
            writes=[curated_flights],
            arguments={
                "flights_path": ingest_flights,
                "weather_path": ingest_weather,
                "target_path": curated_flights,
            },
        )
        curate_flights.acknowledge("reads-duplicates", "keeps the newest version of each row")
        self.pipeline.add_job(
            "publish-delays",
            script="glue_jobs/publish_delays.py",
            bookmark=BookmarkOption.ENABLE,
            after=[curate_flights],
            writes=[route_delays],
            arguments={"source_path": curate_flights, "target_path": route_delays},
        )
        # tidemark new-job inserts above this line
        cdk.CfnOutput(self, "WorkflowName", value=self.pipeline.workflow.ref)

    def _ingest_flights(
        self, stage: StageConfig, *, landing: Dataset, raw: Dataset
    ) -> IncrementalJob:
        """Add the job that reads new flights, from files or from the stage's database."""
        source = flights_source(stage)
        arguments: dict[str, Argument] = {"target_path": raw}
        if isinstance(source, FilesSource):
            return self.pipeline.add_job(
                "ingest-flights",
                script="glue_jobs/ingest_flights.py",
                bookmark=BookmarkOption.DISABLE,
                watermark=True,
                reads=[landing],
                writes=[raw],
                arguments={"source": "files", "source_path": landing, **arguments},
            )
        jdbc = {
            "source": "jdbc",
            "jdbc_url": source.url,
            "jdbc_table": source.table,
            "jdbc_driver": source.driver,
        }
        if source.secret_name:
            jdbc["jdbc_secret_id"] = source.secret_name
        return self.pipeline.add_job(
            "ingest-flights",
            script="glue_jobs/ingest_flights.py",
            bookmark=BookmarkOption.DISABLE,
            watermark=True,
            writes=[raw],
            arguments={**jdbc, **arguments},
            connections=[source.connection_name] if source.connection_name else [],
            secrets=[source.secret_name] if source.secret_name else [],
        )


def _route_delays_table(lake: Lake) -> Table:
    """Return how Athena sees what publish-delays writes; a new day is there at once."""
    return Table(
        database=lake.database or lake.database_name,
        name="route_delays",
        description="Flights, delays and rain of each route and day.",
        columns=[
            Column("origin", "string", "IATA code of the airport of departure"),
            Column("dest", "string", "IATA code of the airport of arrival"),
            Column("flights", "bigint"),
            Column("cancelled", "bigint"),
            Column("delayed", "bigint", "departed 15 minutes late or later"),
            Column("dep_delay_minutes", "bigint"),
            Column("arr_delay_minutes", "bigint"),
            Column("flights_in_rain", "bigint"),
        ],
        partition_keys=[Column("flight_date", "string")],
        projection=Projection({"flight_date": DateProjection("2013-01-01")}),
    )

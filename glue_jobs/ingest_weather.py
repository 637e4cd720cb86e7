"""Glue job: flatten the weather reports that are new to the job bookmark from landing into raw.

Source:  JSON lines under ``source_path``, read through the bookmark of context ``landing_weather``:
         a report per airport, with its observations nested. Some numbers have a fraction.
Target:  ``target_path``weather_date=YYYY-MM-DD/*.parquet, appended, one row per observation with
         the id of its report; Relationalize keeps in its bookmark which ids are taken. The stack
         declares a contract with the columns; other fields of a report are JSON in
         ``_rescued_data``. If a run dies before ``job.commit()``, the next one reads the same files
         and writes their rows again; readers keep the newest row of each (origin, time_hour).
"""

import sys

from pyspark.context import SparkContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.transforms import Relationalize
from awsglue.utils import getResolvedOptions
from watermarks import Contract

NUMBERS = ("int", "long", "double")  # what Glue calls the types of a choice


def main() -> None:
    """Run the job once with the arguments in ``sys.argv``."""
    names = ["JOB_NAME", "source_path", "target_path", "schema_of_target_path", "TempDir"]
    args = getResolvedOptions(sys.argv, names)
    glue_context = GlueContext(SparkContext.getOrCreate())
    job = Job(glue_context)
    job.init(args["JOB_NAME"], args)

    landed = glue_context.create_dynamic_frame.from_options(
        connection_type="s3",
        connection_options={"paths": [args["source_path"]], "recurse": True},
        format="json",
        transformation_ctx="landing_weather",
    )
    if landed.toDF().columns:
        contract = Contract.from_json(args["schema_of_target_path"])
        (
            contract.apply(observations(landed, args["TempDir"]))
            .repartition("weather_date")
            .write.mode("append")  # tidemark: ignore[retry-appends] readers keep the newest row
            .partitionBy("weather_date")
            .parquet(args["target_path"])
        )
    job.commit()


def observations(reports: DynamicFrame, staging_path: str) -> DataFrame:
    """Return the observations of reports as flat rows.

    Args:
        reports: a row per airport: origin, and observations, an array of structs.
        staging_path: where Relationalize may keep tables while the job runs.

    Returns:
        One row per observation: report_id BIGINT, which no other report of a committed run has;
        origin STRING; weather_date DATE; and the fields of observations, as they came.
    """
    tables = Relationalize.apply(
        frame=reports,
        staging_path=staging_path,
        name="reports",
        transformation_ctx="weather_reports",
    )
    flat = tables.select("reports_observations").toDF().drop("index")
    flat = flat.toDF(*(name.removeprefix("observations.val.") for name in flat.columns))
    origins = tables.select("reports").toDF().withColumnRenamed("observations", "id")
    day = (F.col(name).cast("int") for name in ("year", "month", "day"))
    return (
        with_one_number(flat)
        .join(F.broadcast(origins), on="id")
        .withColumnRenamed("id", "report_id")
        .withColumn("weather_date", F.make_date(*day))
    )


def with_one_number(flat: DataFrame) -> DataFrame:
    """Return rows with one column for 39 and 39.02, which Relationalize has put into two.

    Text in their place stays in a column of its own, such as ``temp.string``.
    """
    parts = [name for name in flat.columns if name.rpartition(".")[2] in NUMBERS]
    for name in dict.fromkeys(part.rpartition(".")[0] for part in parts):
        of_name = [part for part in parts if part.rpartition(".")[0] == name]
        numbers = (F.col(f"`{part}`").cast("double") for part in of_name)
        flat = flat.withColumn(name, F.coalesce(*numbers)).drop(*of_name)
    return flat


if __name__ == "__main__":
    main()

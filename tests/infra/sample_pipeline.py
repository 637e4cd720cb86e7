"""The four jobs of the sample as they are planned, and where they stand in a template."""

# What each job of the sample may touch, from the plan of the pipeline rather than from its
# declaration. Jobs that are added to the pipeline are none of the sample.
READS = {
    "ingest-flights": {"{Landing}/flights", "{Raw}/flights"},
    "ingest-weather": {"{Landing}/weather", "{Raw}/weather", "{Raw}/weather_staging"},
    "curate-flights": {"{Raw}/flights", "{Raw}/weather", "{Curated}/flights"},
    "publish-delays": {"{Curated}/flights", "{Mart}/route_delays"},
}
WRITES = {
    "ingest-flights": {"{Raw}/flights"},
    "ingest-weather": {"{Raw}/weather", "{Raw}/weather_staging"},
    "curate-flights": {"{Curated}/flights"},
    "publish-delays": {"{Mart}/route_delays"},
}
ARGUMENTS = {
    "ingest-flights": {
        "--source": "files",
        "--source_path": "s3://{Landing}/flights/",
        "--target_path": "s3://{Raw}/flights/",
        "--watermark_table": "{Watermarks}",
    },
    "ingest-weather": {
        "--source_path": "s3://{Landing}/weather/",
        "--target_path": "s3://{Raw}/weather/",
        "--TempDir": "s3://{Raw}/weather_staging/",
    },
    "curate-flights": {
        "--flights_path": "s3://{Raw}/flights/",
        "--weather_path": "s3://{Raw}/weather/",
        "--target_path": "s3://{Curated}/flights/",
    },
    "publish-delays": {
        "--source_path": "s3://{Curated}/flights/",
        "--target_path": "s3://{Mart}/route_delays/",
    },
}
BOOKMARKS = {
    "ingest-flights": "job-bookmark-disable",
    "ingest-weather": "job-bookmark-enable",
    "curate-flights": "job-bookmark-enable",
    "publish-delays": "job-bookmark-enable",
}


def triggers(assembly, type_):
    return {
        id_: trigger
        for id_, trigger in assembly.resources("AWS::Glue::Trigger").items()
        if trigger["Properties"]["Type"] == type_
    }


def sample_jobs(assembly):
    """Return the properties of the sample's jobs by name."""
    return {name: job for name, job in assembly.jobs().items() if name in BOOKMARKS}


def job_names(assembly, parts):
    by_id = {
        id_.split("/")[1]: job["Properties"]["Name"]
        for id_, job in assembly.resources("AWS::Glue::Job").items()
    }
    return [by_id[part["JobName"]["Ref"]] for part in parts]

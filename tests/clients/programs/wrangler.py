"""Tables of the Data Catalog by awswrangler: written, read, described, deleted. Prints JSON."""

import json
import sys

import awswrangler as wr
import pandas as pd

BUCKET = sys.argv[1]
TABLE = {"database": "wrangler", "table": "deliveries"}


def frame(day: str, amount: float) -> pd.DataFrame:
    """Return two deliveries of a day."""
    return pd.DataFrame({"id": [1, 2], "amount": [amount, amount + 1], "day": [day, day]})


def main() -> None:
    """Write, read, describe and delete."""
    found: dict[str, object] = {}
    wr.catalog.create_database("wrangler", exist_ok=True)
    wr.catalog.create_database("wrangler", exist_ok=True)
    written = [
        wr.s3.to_parquet(
            frame(day, amount),
            path=f"s3://{BUCKET}/deliveries/",
            dataset=True,
            partition_cols=["day"],
            mode=mode,
            glue_table_settings={
                "description": "deliveries of a day",
                "parameters": {"team": "data"},
                "columns_comments": {"id": "the delivery"},
            },
            **TABLE,
        )
        for day, amount, mode in (
            ("2026-01-01", 1.5, "overwrite"),
            ("2026-01-02", 2.5, "append"),
            ("2026-01-02", 9.5, "overwrite_partitions"),
        )
    ]
    found["partitions written"] = [sorted(one["partitions_values"].values()) for one in written]
    rows = wr.s3.read_parquet_table(**TABLE)
    found["rows"] = sorted(map(list, rows[["id", "amount", "day"]].astype({"day": str}).values))
    only = wr.s3.read_parquet_table(
        **TABLE, partition_filter=lambda values: values["day"] == "2026-01-02"
    )
    found["rows of a partition"] = len(only)
    found["read by path"] = len(wr.s3.read_parquet(f"s3://{BUCKET}/deliveries/", dataset=True))
    found["types"] = wr.catalog.get_table_types(**TABLE)
    found["partitions"] = sorted(wr.catalog.get_partitions(**TABLE).values())
    found["filtered"] = list(
        wr.catalog.get_partitions(**TABLE, expression="day = '2026-01-01'").values()
    )
    found["location"] = wr.catalog.get_table_location(**TABLE)
    found["description"] = wr.catalog.get_table_description(**TABLE)
    found["comments"] = wr.catalog.get_columns_comments(**TABLE)
    wr.catalog.upsert_table_parameters({"owner": "me"}, **TABLE)
    parameters = wr.catalog.get_table_parameters(**TABLE)
    found["parameters"] = {name: parameters[name] for name in ("team", "owner", "classification")}
    wr.catalog.add_parquet_partitions(
        **TABLE, partitions_values={f"s3://{BUCKET}/deliveries/day=2026-01-09/": ["2026-01-09"]}
    )
    wr.catalog.delete_partitions(**TABLE, partitions_values=[["2026-01-09"]])
    found["versions"] = wr.catalog.get_table_number_of_versions(**TABLE)
    found["search"] = [one["Name"] for one in wr.catalog.search_tables(text="deliveries")]
    found["databases"] = list(wr.catalog.databases()["Database"])
    found["tables"] = list(wr.catalog.tables(database="wrangler")["Table"])
    found["columns"] = list(wr.catalog.table(**TABLE)["Column Name"])

    wr.s3.to_csv(
        frame("2026-02-01", 4.5),
        path=f"s3://{BUCKET}/csv/",
        dataset=True,
        index=False,
        database="wrangler",
        table="deliveries_csv",
    )
    csv = wr.s3.read_csv(f"s3://{BUCKET}/csv/", dataset=True, names=["id", "amount", "day"])
    found["csv"] = len(csv)
    wr.s3.to_json(
        frame("2026-02-01", 4.5),
        path=f"s3://{BUCKET}/json/",
        dataset=True,
        index=False,
        orient="records",
        lines=True,
        database="wrangler",
        table="deliveries_json",
    )
    json_rows = wr.s3.read_json(f"s3://{BUCKET}/json/", dataset=True, orient="records", lines=True)
    found["json"] = len(json_rows)
    found["stored"] = wr.s3.store_parquet_metadata(
        path=f"s3://{BUCKET}/deliveries/", dataset=True, database="wrangler", table="crawled"
    )[0]
    wider = frame("2026-01-03", 5.5).assign(note="new")
    wr.s3.to_parquet(
        wider,
        path=f"s3://{BUCKET}/deliveries/",
        dataset=True,
        partition_cols=["day"],
        catalog_versioning=True,
        **TABLE,
    )
    found["evolved"] = wr.catalog.get_table_types(**TABLE)
    found["versions of the wider one"] = wr.catalog.get_table_number_of_versions(**TABLE)
    for name in ("deliveries", "deliveries_csv", "deliveries_json", "crawled"):
        found[f"deleted {name}"] = wr.catalog.delete_table_if_exists("wrangler", name)
    found["deleted twice"] = wr.catalog.delete_table_if_exists("wrangler", "deliveries")
    wr.catalog.delete_database("wrangler")
    wr.s3.delete_objects(f"s3://{BUCKET}/deliveries/")
    found["left"] = wr.s3.list_objects(f"s3://{BUCKET}/deliveries/")
    found["exists"] = wr.s3.does_object_exist(f"s3://{BUCKET}/json/none")
    found["size"] = sum(wr.s3.size_objects(f"s3://{BUCKET}/csv/").values()) > 0
    sys.stdout.write(json.dumps(found, default=str))


if __name__ == "__main__":
    main()

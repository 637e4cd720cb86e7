"""Names of awsglue that run here in part, with the differences; others run as on AWS.

Names that do not run at all are in `tidemark.model.awsglue_api.not_yet`.
"""

# What differs here -> the names in AWS's modules and classes of which it does.
_NAMES: dict[str, dict[str, str]] = {
    "of Glue's classes in `_jvm` only `AWSConnectionUtils` is there; "
    "`_glue_scala_context` raises": {"context": "GlueContext"},
    "`_jdf` raises": {"dynamicframe": "DynamicFrame"},
    "connection types and formats of the tables below; the others raise": {
        "context.GlueContext": (
            "create_data_frame_from_options create_dynamic_frame_from_options getSource getSink "
            "write_dynamic_frame_from_options"
        ),
        "dataframereader.DataFrameReader": "from_options",
        "dynamicframe.DynamicFrameReader": "from_options",
        "dynamicframe.DynamicFrameWriter": "from_options",
        "data_source.DataSource": "setFormat",
        "data_sink.DataSink": "setFormat",
    },
    "the Data Catalog of this machine; `catalog_id` of another account raises": {
        "context.GlueContext": (
            "create_data_frame_from_catalog create_dynamic_frame_from_catalog "
            "write_data_frame_from_catalog write_dynamic_frame_from_catalog "
            "get_catalog_schema_as_spark_schema"
        ),
        "dataframereader.DataFrameReader": "from_catalog",
        "dataframewriter.DataFrameWriter": "from_catalog",
        "dynamicframe.DynamicFrameReader": "from_catalog",
        "dynamicframe.DynamicFrameWriter": "from_catalog",
        "data_sink.DataSink": "setCatalogInfo",
    },
    "the first rows in order; `sample_options` have no effect": {
        "context.GlueContext": (
            "create_sample_dynamic_frame_from_catalog create_sample_dynamic_frame_from_options"
        ),
        "data_source.DataSource": "getSampleFrame",
    },
    "an engine in Python: an object of the JVM is not taken": {
        "dynamicframe.DynamicFrame": "__init__",
        "data_sink.DataSink": "__init__",
        "data_source.DataSource": "__init__",
    },
    "a warning: the lake has one storage class, and no file is moved": {
        "context.GlueContext": "transition_s3_path transition_table"
    },
    "errors of a sink are not counted: `accumulator_size` has no effect": {
        "context.GlueContext": "write_from_options",
        "dynamicframe.DynamicFrame": "write",
        "data_sink.DataSink": "setAccumulableSize",
    },
    "of a streaming DataFrame of Spark; Kinesis and Kafka are not sources here": {
        "context.GlueContext": "forEachBatch"
    },
    "computed at once and kept by Spark: nothing is written to the staging path": {
        "dynamicframe.DynamicFrame": "relationalize",
        "transforms.relationalize.Relationalize": "__call__",
    },
    "formats json and csv": {
        "dynamicframe.DynamicFrame": "unbox",
        "transforms.unbox.Unbox": "__call__",
    },
    "a frame that is not there is a KeyError, not an empty frame": {
        "dynamicframe.DynamicFrameCollection": "select"
    },
    "as in the version of Glue: up to 5.1 beginnings of names count, 6.0 has `allow_abbrev`": {
        "utils": "getResolvedOptions"
    },
    "`options` have no effect": {"dynamicframe.DynamicFrame": "mergeDynamicFrame"},
}
DIFFERS = {
    f"awsglue.{owner}.{name}": difference
    for difference, owners in _NAMES.items()
    for owner, names in owners.items()
    for name in names.split()
}
"""The name of each in AWS's library, and what differs here."""

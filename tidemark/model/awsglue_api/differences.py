"""Names of awsglue that run here in part, with the differences; others run as on AWS.

Names that do not run at all are in `tidemark.model.awsglue_api.not_yet`.
"""

_ERRORS = "errors of a sink are not counted: `accumulator_size` has no effect"
_SOURCES = "connection types and formats of the tables below; the others raise"
_CATALOG = "the Data Catalog of this machine; `catalog_id` of another account raises"
_SAMPLE = "the first rows in order; `sample_options` have no effect"
_PYTHON = "an engine in Python: an object of the JVM is not taken"
# Name of AWS -> what differs here.
DIFFERS: dict[str, str] = {
    "awsglue.context.GlueContext": (
        "of Glue's classes in `_jvm` only `AWSConnectionUtils` is there; "
        "`_glue_scala_context` raises"
    ),
    "awsglue.dynamicframe.DynamicFrame": "`_jdf` raises",
    **dict.fromkeys(
        (
            "awsglue.context.GlueContext.create_data_frame_from_options",
            "awsglue.context.GlueContext.create_dynamic_frame_from_options",
            "awsglue.context.GlueContext.getSource",
            "awsglue.dataframereader.DataFrameReader.from_options",
            "awsglue.dynamicframe.DynamicFrameReader.from_options",
            "awsglue.context.GlueContext.getSink",
            "awsglue.context.GlueContext.write_dynamic_frame_from_options",
            "awsglue.dynamicframe.DynamicFrameWriter.from_options",
            "awsglue.data_source.DataSource.setFormat",
            "awsglue.data_sink.DataSink.setFormat",
        ),
        _SOURCES,
    ),
    **dict.fromkeys(
        (
            "awsglue.context.GlueContext.create_data_frame_from_catalog",
            "awsglue.context.GlueContext.create_dynamic_frame_from_catalog",
            "awsglue.dataframereader.DataFrameReader.from_catalog",
            "awsglue.dynamicframe.DynamicFrameReader.from_catalog",
            "awsglue.context.GlueContext.write_data_frame_from_catalog",
            "awsglue.context.GlueContext.write_dynamic_frame_from_catalog",
            "awsglue.context.GlueContext.get_catalog_schema_as_spark_schema",
            "awsglue.dataframewriter.DataFrameWriter.from_catalog",
            "awsglue.dynamicframe.DynamicFrameWriter.from_catalog",
            "awsglue.data_sink.DataSink.setCatalogInfo",
        ),
        _CATALOG,
    ),
    **dict.fromkeys(
        (
            "awsglue.context.GlueContext.create_sample_dynamic_frame_from_catalog",
            "awsglue.context.GlueContext.create_sample_dynamic_frame_from_options",
            "awsglue.data_source.DataSource.getSampleFrame",
        ),
        _SAMPLE,
    ),
    **dict.fromkeys(
        (
            "awsglue.dynamicframe.DynamicFrame.__init__",
            "awsglue.data_sink.DataSink.__init__",
            "awsglue.data_source.DataSource.__init__",
        ),
        _PYTHON,
    ),
    **dict.fromkeys(
        (
            "awsglue.context.GlueContext.transition_s3_path",
            "awsglue.context.GlueContext.transition_table",
        ),
        "a warning: the lake has one storage class, and no file is moved",
    ),
    "awsglue.context.GlueContext.write_from_options": _ERRORS,
    "awsglue.dynamicframe.DynamicFrame.write": _ERRORS,
    "awsglue.data_sink.DataSink.setAccumulableSize": _ERRORS,
    "awsglue.context.GlueContext.forEachBatch": (
        "of a streaming DataFrame of Spark; Kinesis and Kafka are not sources here"
    ),
    "awsglue.dynamicframe.DynamicFrame.relationalize": (
        "computed at once and kept by Spark: nothing is written to the staging path"
    ),
    "awsglue.transforms.relationalize.Relationalize.__call__": (
        "computed at once and kept by Spark: nothing is written to the staging path"
    ),
    "awsglue.dynamicframe.DynamicFrame.unbox": "formats json and csv",
    "awsglue.transforms.unbox.Unbox.__call__": "formats json and csv",
    "awsglue.dynamicframe.DynamicFrameCollection.select": (
        "a frame that is not there is a KeyError, not an empty frame"
    ),
    "awsglue.utils.getResolvedOptions": (
        "as in the version of Glue: up to 5.1 beginnings of names count, 6.0 has `allow_abbrev`"
    ),
    "awsglue.dynamicframe.DynamicFrame.mergeDynamicFrame": "`options` have no effect",
}

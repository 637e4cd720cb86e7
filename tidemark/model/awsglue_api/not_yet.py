"""What AWS's awsglue library has and the local one does not; a name leaves once it runs here.

Plain data, read by the package `awsglue`, which refuses each name where a script uses it, and by
the linter. A test compares it with the names of AWS's library.
Source: https://github.com/awslabs/aws-glue-libs (branch glue-5.1)
"""

from tidemark.errors import UnsupportedError

# Module -> the names in it; a class that is here in part -> the members that are not.
NOT_YET: dict[str, dict[str, str]] = {
    "awsglue.context": {
        "": "register",
        "GlueContext": (
            "getStreamingSource convert_resolve_option "
            "getSampleStreamingDynamicFrame start_transaction commit_transaction cancel_transaction"
        ),
    },
    "awsglue.devutils": {"": "ExecutionProperty Command Connections Job GlueJobUtils"},
    "awsglue.glue_shell": {"": "sc glueContext welcome_msg"},
    "awsglue.streaming_data_source": {"": "StreamingDataSource"},
    "awsglue.utils": {"": "makeOptions"},
    "awsglue.scripts.activate_etl_connector": {
        "": (
            "LAYER_TAR_DIR LAYER_GZ_DIR MARKETPLACE CUSTOM HTTP_PROXY HTTPS_PROXY NO_PROXY "
            "ECR_HOST_PATTERN logger escape_hocon_value add_stream_handler run_commands "
            "send_get_request parse_url extract_ecr_region extract_registry_id "
            "get_ecr_authorization_token parse_ecr_url get_docker_manifest "
            "download_and_unpack_docker_layer parse_args id_generator get_connection "
            "collect_files_by_suffix download_custom_jars download_jars_per_connection main"
        )
    },
    "awsglue.scripts.connector_activation_util": {"": "boto_client_error"},
    "awsglue.scripts.crawler_redo_from_backup": {
        "": "crawler_redo_from_backup crawler_redo_from_backup_options main"
    },
    "awsglue.scripts.crawler_undo": {"": "crawler_backup crawler_undo crawler_undo_options main"},
    "awsglue.scripts.scripts_utils": {
        "": (
            "COLLECT_RESULT_NAME DEFAULT_CATALOG_ENDPOINT DEFAULT_GLUE_ENDPOINT "
            "DEFAULT_REGION write_backup nest_data_frame write_df_to_catalog catalog_dict "
            "read_from_catalog write_df_to_s3 read_from_s3"
        )
    },
    "awsglueml.transforms": {
        "": "EntityDetector FillMissingValues FindIncrementalMatches FindMatches"
    },
    "awsgluedi.transforms": {
        "": (
            "column_formatting data_cleaning data_quality data_structuring date_functions "
            "math_functions pii"
        )
    },
}

# Visual transforms of Glue Studio: a script imports one by name and calls it as a method.
STUDIO = ("gs_intersect", "gs_lookup", "gs_unpivot")
NOT_YET |= {name: {"": name} for name in STUDIO}
PAGE = "docs/reference/awsglue-coverage.md"
WITH_SPARK = "convert with toDF() and use Spark"
_STREAM = "streaming jobs do not run locally; read the source as a batch"
_GOVERNED = "AWS ended governed tables; write to a table of Iceberg, Hudi or Delta Lake"
_JVM = "it creates an object of Glue's JVM, which only Glue has"
# What to do instead, by a part of a name, the last one first.
INSTEAD = {
    **dict.fromkeys(("getStreamingSource", "StreamingDataSource"), _STREAM),
    "getSampleStreamingDynamicFrame": _STREAM,
    **dict.fromkeys(("start_transaction", "commit_transaction", "cancel_transaction"), _GOVERNED),
    **dict.fromkeys(("register", "convert_resolve_option", "makeOptions"), _JVM),
    "gs_intersect": "convert with toDF() and use intersect() or intersectAll()",
    "gs_lookup": "read the table with from_catalog and join it, with how='left'",
    "gs_unpivot": "convert with toDF() and use unpivot(ids, values, name, value)",
    "_glue_scala_context": "it is an object of Glue's JVM, which only Glue has",
    "_jdf": (
        "it is an object of Glue's JVM, which only Glue has; ask the frame itself (schema(), "
        "count(), errorsAsDynamicFrame()), or the DataFrame of toDF()"
    ),
}


def names_of(module: str) -> list[str]:
    """Return the names of a module that do not run here, none of classes that do in part."""
    return NOT_YET.get(module, {}).get("", "").split()


def members_of(module: str, owner: str) -> list[str]:
    """Return the members of a class that do not run here; the class itself is here."""
    return NOT_YET.get(module, {}).get(owner, "").split() if owner else []


def remedy_of(name: str) -> str:
    """Return what to do instead of using a name, written with its owner."""
    parts = reversed(name.split("."))
    return next((INSTEAD[part] for part in parts if part in INSTEAD), WITH_SPARK)


def refusal(name: str) -> UnsupportedError:
    """Return the error for the use of a name, written with its owner: ``GlueContext.getSink``."""
    return UnsupportedError(f"{name} does not run locally yet; {remedy_of(name)}: see {PAGE}")

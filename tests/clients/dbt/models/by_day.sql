{{ config(
    materialized="incremental", incremental_strategy="insert_overwrite",
    partition_by=["day"], file_format="parquet"
) }}
select id, amount, day from {{ ref("orders") }}

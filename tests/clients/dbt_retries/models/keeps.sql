{{ config(
    materialized="incremental", incremental_strategy="merge", unique_key=["id"],
    file_format="iceberg", iceberg_expire_snapshots="False"
) }}
select 1 as id, 10 as amount union all select 2, 20

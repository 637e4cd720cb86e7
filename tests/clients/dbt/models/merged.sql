{{ config(
    materialized="incremental", incremental_strategy="merge", unique_key=["id"],
    file_format="iceberg", iceberg_expire_snapshots="False"
) }}
select id, customer, amount from {{ ref("orders") }}

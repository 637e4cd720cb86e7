{{ config(materialized="incremental", incremental_strategy="append", file_format="parquet") }}
select 1 as id, 10 as amount union all select 2, 20

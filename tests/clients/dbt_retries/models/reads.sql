{{ config(materialized="table", file_format="parquet") }}
select id, sum(amount) as total from {{ ref("doubles") }} group by id

{{ config(materialized="table", file_format="parquet") }}
select customer, sum(amount) as total from {{ ref("orders") }} group by customer

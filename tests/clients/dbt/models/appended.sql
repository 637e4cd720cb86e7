{{ config(materialized="incremental", incremental_strategy="append", file_format="parquet") }}
select id, amount from {{ ref("orders") }}
{% if is_incremental() %} where id > (select max(id) from {{ this }}) {% endif %}

{{ config(materialized="view") }}
select cast(id as bigint) as id, customer, cast(amount as bigint) as amount, day
from {{ ref("raw_orders") }}

"""Tests of dbt-tests-adapter that dbt-glue can pass: what it lacks on AWS too is set here."""

import importlib

import pytest
from dbt.tests.adapter.basic.files import (
    base_ephemeral_sql,
    base_table_sql,
    base_view_sql,
    ephemeral_table_sql,
    ephemeral_view_sql,
    incremental_sql,
)
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_incremental import BaseIncremental
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection

# dbt-glue takes the schema as database of a source, and does not fill it in.
SOURCE = """
version: 2
sources:
  - name: raw
    schema: "{{ target.schema }}"
    database: "{{ target.schema }}"
    tables:
      - name: seed
        identifier: "{{ var('seed_name', 'base') }}"
"""
SWAPPED = """
{{ config(materialized=var("materialized_var", "table"), incremental_strategy="insert_overwrite") }}
select * from {{ source('raw', 'seed') }}
"""


class TestMaterializations(BaseSimpleMaterializations):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "view_model.sql": base_view_sql,
            "table_model.sql": base_table_sql,
            "swappable.sql": SWAPPED,
            "schema.yml": SOURCE,
        }


class TestEphemeral(BaseEphemeral):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "ephemeral.sql": base_ephemeral_sql,
            "view_model.sql": ephemeral_view_sql,
            "table_model.sql": ephemeral_table_sql,
            "schema.yml": SOURCE,
        }


class TestIncremental(BaseIncremental):
    @pytest.fixture(scope="class")
    def models(self):
        of_glue = "{{ config(incremental_strategy='append') }}"
        return {"incremental.sql": of_glue + incremental_sql, "schema.yml": SOURCE}


class TestEmpty(BaseEmpty):
    pass


class TestGenericTests(BaseGenericTests):
    pass


class TestSingularTests(BaseSingularTests):
    pass


class TestSingularTestsOfEphemeralModels(BaseSingularTestsEphemeral):
    pass


class TestTables(BaseTableMaterialization):
    pass


class TestConnection(BaseValidateConnection):
    pass


MACROS = """
any_value array_append array_concat array_construct bool_or cast cast_bool_to_text concat date
date_spine date_trunc dateadd datediff equals except generate_series get_powers_of_two hash
intersect last_day length null_compare position replace right safe_cast string_literal
""".split()
TYPES = ("bigint", "boolean", "string")
for module_name in (
    *(f"utils.test_{name}" for name in MACROS),
    *(f"utils.data_types.test_type_{name}" for name in TYPES),
):
    module = importlib.import_module(f"dbt.tests.adapter.{module_name}")
    for name, base in list(vars(module).items()):
        if name.startswith("Base") and base.__module__ == module.__name__:
            globals()[f"Test{name.removeprefix('Base')}"] = type(name, (base,), {})

"""Choices: how a frame holds and shows them, and what resolveChoice makes of them.

Golden outputs are of AWS's page of the class DynamicFrame and of its sample resolve_choice.md.
"""

from __future__ import annotations

import pytest
from pyspark.sql.types import LongType, Row

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.glue_job.process import bookmark_session as session
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import CatalogTable

pytestmark = pytest.mark.spark


def ids(frame, *columns):
    names = [f"`{name}`" for name in columns or ("provider id",)]
    rows = frame.toDF().orderBy("drg definition").select(*names).collect()
    return [tuple(row) for row in rows] if columns else [row[0] for row in rows]


@pytest.mark.rule("Frames", source="DYF")
def test_a_column_of_two_types_is_a_choice_and_toDF_shows_it_as_a_struct(medicare, printed):  # noqa: N802
    assert printed(medicare) == (
        "|-- drg definition: string\n"
        "|-- provider id: choice\n"
        "|    |-- long\n"
        "|    |-- string\n"
        "|-- total discharges: long"
    )
    assert ids(medicare) == [(10001, None), (10005, None), (None, "n/a"), (None, "10006")]
    assert medicare.toDF().schema["provider id"].metadata == {}


@pytest.mark.rule("Frames", source="DYF, RCS")
def test_cast_returns_null_for_values_that_cannot_be_cast(medicare, printed):
    cast = medicare.resolveChoice(specs=[("provider id", "cast:long")])

    assert printed(cast) == (
        "|-- drg definition: string\n|-- provider id: long\n|-- total discharges: long"
    )
    assert ids(cast) == [10001, 10005, None, 10006]


@pytest.mark.rule(
    "Frames",
    source="RCC, RCS",
    choice="values of other types are dropped; the page of the class DynamicFrame says converted",
)
def test_project_keeps_the_values_of_one_type(medicare, printed):
    project = medicare.resolveChoice(specs=[("provider id", "project:long")])

    assert "|-- provider id: long" in printed(project)
    assert ids(project) == [10001, 10005, None, None]


@pytest.mark.rule("Frames", source="DYF, RCS", choice="types in the order of their names")
def test_make_cols_makes_a_column_for_each_type(medicare, printed):
    cols = medicare.resolveChoice(choice="make_cols")

    assert printed(cols) == (
        "|-- drg definition: string\n"
        "|-- provider id_long: long\n"
        "|-- provider id_string: string\n"
        "|-- total discharges: long"
    )
    found = ids(cols, "provider id_long", "provider id_string")
    assert found == [(10001, None), (10005, None), (None, "n/a"), (None, "10006")]


@pytest.mark.rule("Frames", source="RCS")
def test_make_struct_makes_a_struct_of_the_types(medicare, printed):
    struct = medicare.resolveChoice(specs=[("provider id", "make_struct")])

    assert printed(struct) == (
        "|-- drg definition: string\n"
        "|-- provider id: struct\n"
        "|    |-- long: long\n"
        "|    |-- string: string\n"
        "|-- total discharges: long"
    )
    assert ids(struct) == [(10001, None), (10005, None), (None, "n/a"), (None, "10006")]


@pytest.mark.rule("Frames", source="DYF", choice="choices of columns that the table lacks stay")
def test_match_catalog_casts_to_the_types_of_a_table(medicare, printed, tmp_path, monkeypatch):
    columns = [{"Name": "provider id", "Type": "varchar(10)"}]
    table = CatalogTable("payments", "medicare", {"StorageDescriptor": {"Columns": columns}})
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path))
    with Store(session.job_home().database) as store:
        put_tables(store, [table])

    matched = medicare.resolveChoice(
        choice="match_catalog", database="payments", table_name="medicare"
    )

    assert "|-- provider id: string" in printed(matched)
    assert ids(matched) == ["10001", "10005", "n/a", "10006"]
    with pytest.raises(EntityNotFoundError, match="no table 'other'"):
        medicare.resolveChoice(choice="match_catalog", database="payments", table_name="other")
    with pytest.raises(UsageError, match="match_catalog needs database and table_name"):
        medicare.resolveChoice(choice="match_catalog")


@pytest.mark.rule("Frames", source="DYF")
def test_a_choice_inside_an_array_is_resolved_by_its_path(rows_of, printed):
    """The example of the page: ``"myList": [{"price": 100.00}, {"price": "$100.00"}]``."""
    columns = "id int, myList array<struct<price: {}>>"
    numbers = rows_of(columns.format("double"), (1, [(100.0,)]))
    frame = numbers.union(rows_of(columns.format("string"), (2, [("$100.00",), ("7",)])))

    cast = frame.resolveChoice(specs=[("myList[].price", "cast:double")])

    assert printed(cast).endswith("|    |-- element: struct\n|    |    |-- price: double")
    rows = cast.toDF().orderBy("id").collect()
    assert [row.myList for row in rows] == [[Row(price=100.0)], [(None,), (7.0,)]]


@pytest.mark.parametrize("path", ["list", "list[]"])
def test_the_elements_of_an_array_are_resolved(rows_of, path):
    numbers = rows_of("id int, list array<bigint>", (1, [1, 2]))
    frame = numbers.union(rows_of("id int, list array<string>", (2, ["3", "x"])))

    cast = frame.resolveChoice(specs=(path, "cast:int"))

    assert [row.list for row in cast.toDF().orderBy("id").collect()] == [[1, 2], [3, None]]


@pytest.mark.rule("Frames", source="SILENT", choice="a struct, which keeps every value")
@pytest.mark.parametrize("how", [{"choice": "make_cols"}, {"specs": [("list[]", "make_cols")]}])
def test_make_cols_of_array_elements_makes_structs(rows_of, how):
    numbers = rows_of("id int, list array<bigint>", (1, [1]))
    frame = numbers.union(rows_of("id int, list array<string>", (2, ["x"])))

    cols = frame.resolveChoice(**how)

    rows = cols.toDF().orderBy("id").collect()
    assert [row.list for row in rows] == [[Row(long=1, string=None)], [Row(long=None, string="x")]]


def test_a_cast_finds_choices_inside_of_what_it_casts(rows_of):
    texts = ("5",), ('{"x": 1}',), ('{"x": "a"}',), ('[1, "b"]',)
    frame = rows_of("t string", *texts).unbox("t", "json")

    longs = frame.resolveChoice(choice="cast:long").toDF().collect()
    lists = frame.resolveChoice([("t", "cast:array<string>")]).toDF().collect()

    assert longs == [(5,), (None,), (None,), (None,)]
    assert lists == [(None,), (None,), (None,), (["1", "b"],)]


def test_a_cast_of_a_column_of_one_type_converts_it(rows_of):
    frame = rows_of("a string", ("1",), ("x",))

    assert frame.resolveChoice(specs=[("a", "cast:int")]).toDF().collect() == [(1,), (None,)]


@pytest.mark.rule("Frames", source="LIB", choice="also KEEPASSTRUCT needs no target")
def test_toDF_resolves_by_options_with_types_of_glue(medicare):  # noqa: N802
    import awsglue.gluetypes as glue
    from awsglue.dynamicframe import ResolveOption

    def column(action, target=None):
        return medicare.toDF([ResolveOption("provider id", action, target)]).schema["provider id"]

    for project in ("Project", "project", "PROJECT"):
        assert column(project, glue.LongType()).dataType == LongType()
    assert column("Project", glue.StringType()).dataType.simpleString() == "string"
    for keep in ("KeepAsStruct", "keepasstruct", "KEEPASSTRUCT"):
        assert column(keep).dataType.simpleString() == "struct<long:bigint,string:string>"
    with pytest.raises(Exception, match=r"^Missing target type for resolve action Project\."):
        column("Project")
    for target in (LongType(), "long", glue.LongType, 5):
        with pytest.raises(ValueError, match=r"^Target type must be specified with project"):
            column("Project", target)
    for action in ("Cast", "make_cols", ""):
        with pytest.raises(ValueError, match=rf"^Invalid resolve action {action}\. Action must be"):
            column(action, glue.LongType())


@pytest.mark.rule("Frames", source="LIB")
def test_specs_and_choice_exclude_each_other(medicare):
    with pytest.raises(Exception, match="specs and option are both missing, add one"):
        medicare.resolveChoice()
    with pytest.raises(Exception, match="specs and option are both specified, choose one"):
        medicare.resolveChoice(specs=[("a", "make_cols")], choice="make_cols")


@pytest.mark.parametrize(
    ("specs", "text"),
    [
        ([("provider id", "cast:lng")], "'lng', which is not a type; allowed are binary, boolean"),
        ([("provider id", "casting:long")], "action 'casting:long' .* cast:type, project:type"),
        ([("provider id", "cast")], "action 'cast' "),
        ([("not there", "kast:int")], "action 'kast:int' "),
        ([("provider id", "project:double")], "no values of the type double; it has long, string"),
        ([("provider id", "make_cols", "x")], "must be a tuple of a path and an action"),
    ],
)
def test_a_wrong_spec_is_an_error(medicare, specs, text):
    with pytest.raises(UsageError, match=text):
        medicare.resolveChoice(specs=specs)


def test_a_path_that_is_not_there_is_warned_of(medicare, warned):
    same = medicare.resolveChoice(specs=[("providerid", "cast:long")])

    assert same.toDF().schema == medicare.toDF().schema
    assert warned() == [("FIELD_MISSING", "providerid")]


def test_what_was_a_choice_is_a_plain_struct_after_a_data_frame(medicare, glue_context, printed):
    from awsglue.dynamicframe import DynamicFrame

    again = DynamicFrame.fromDF(medicare.toDF(), glue_context, "again")

    assert "|-- provider id: struct\n|    |-- long: long" in printed(again)


@pytest.mark.parametrize("how", [{"specs": [("v", "make_cols")]}, {"choice": "make_cols"}], ids=str)
def test_a_column_of_a_choice_with_the_name_of_another_is_refused(rows_of, how):
    frame = rows_of("v int, v_int int", (1, 9)).union(rows_of("v string, v_int int", ("x", 8)))

    with pytest.raises(UsageError, match="make_cols makes two columns named v_int"):
        frame.resolveChoice(**how)

"""What makes no table, and no use of one, is refused at its declaration, in one line."""

import pytest

from tidemark.errors import JobDefinitionError


@pytest.fixture
def names(cdk):
    """Return what may be named in a declaration."""
    from tidemark import constructs

    return {name: getattr(constructs, name) for name in constructs.__all__}


TABLE = "Table('mart', 't', [Column('a', 'int')]"
KEYED = f"{TABLE}, [Column('day', 'date')]"
NUMBERED = f"{TABLE}, [Column('day', 'tinyint')]"
AVRO = '{"type": "record", "name": "r", "fields": [{"name": "b", "type": "int"}]}'


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("Column('Id', 'int')", "column name 'Id'"),
        ("Column('', 'int')", "column name ''"),
        ("Column('id', 'integer')", "Hive's name is int"),
        ("Column('id', 'int', 'x' * 256)", "up to 255 characters"),
        ("Table('My db', 't', [Column('a', 'int')])", "database 'My db'"),
        ("Table('mart', 'T', [Column('a', 'int')])", "name 'T'; allowed: lower case"),
        ("Table('mart', 't-a', [Column('a', 'int')])", "name 't-a'"),
        ("Table('mart', 't', [Column('a', 'int'), Column('a', 'int')])", "a name once"),
        (f"{TABLE}, [Column('a', 'int')])", "column 'a'; allowed: a name once"),
        (f"{TABLE}, [Column('k', 'array<int>')])", "partition key"),
        (f"{TABLE}, [Column('k', 'binary')])", "partition key"),
        (f"{TABLE}, parameters={{'projection.enabled': 'true'}})", "parameter 'projection.enabl"),
        (f"{TABLE}, parameters={{'classification': 'csv'}})", "parameter 'classification'"),
        (f"{TABLE}, projection=Projection({{'day': InjectedProjection()}}))", "which it has none"),
        (f"{KEYED}, projection=Projection({{}}))", "exactly the partition keys, day"),
        (f"{KEYED}, projection=Projection({{'day': InjectedProjection()}}))", "allowed: string"),
        (f"{KEYED}, projection=Projection({{'day': IntegerProjection(1, 2)}}))", "integer type"),
        (f"{KEYED}, projection=Projection({{'day': EnumProjection(['a'])}}))", "an integer type"),
        (
            f"{NUMBERED}, projection=Projection({{'day': EnumProjection(['1', 'a'])}}))",
            "'a' is not of tinyint",
        ),
        (
            f"{NUMBERED}, projection=Projection({{'day': IntegerProjection(1, 128)}}))",
            "'128' is not of tinyint",
        ),
        (f"{TABLE}, format=TableFormat.avro({AVRO!r}))", "those of the Avro schema: .'b'"),
        ("TableFormat.avro('{}')", "the schema '{}'; allowed: an Avro schema"),
        ("TableFormat.avro('[1]')", "an Avro schema as JSON"),
        ("TableFormat.csv(delimiter='')", "delimiter ''; allowed: one character"),
        ("TableFormat.csv(quote='ab')", "quote 'ab'"),
        (
            "TableFormat.csv(delimiter='\\0', quote='\"')",
            "delimiter '.x00'; allowed: one character, no NUL",
        ),
        ("TableFormat.csv(delimiter='1')", "without quote= of ASCII and no digit"),
        ("TableFormat.csv(delimiter='§')", "delimiter '§'"),
        ("TableFormat.csv(quote=',')", "characters that differ"),
        (
            "Table('mart', 't', [Column('a', 'array<int>')], format=TableFormat.csv())",
            "no nested type",
        ),
        (
            "Table('mart', 't', [Column('a', 'date')], format=TableFormat.csv(quote='\"'))",
            "the types of OpenCSVSerDe: string, boolean, bigint",
        ),
        ("DataQualityRuleset('')", "there is no section"),
        ("DataQualityRuleset('Rules = [ ]')", "the list of rules is empty"),
        ("DataQualityRuleset('Rules = [RowCount > 0')", "expected"),
        ("DataQualityRuleset('Rules = [RowCount > 0)]')", "expected"),
        ("DataQualityRuleset('Rules = [IsComplete \"a]')", "has no closing quote"),
        (
            "Table('mart', 't', [Column('a', 'int')], "
            "quality=DataQualityRuleset('Rules = [IsUnique \"b\"]'))",
            "the table has no column b",
        ),
        ("DataQualityRuleset('Rules = [RowCount > 0]', 'a b')", "the name 'a b'"),
        ("TableUse('orders')", "'orders' in tables; allowed: each database.table"),
        ("TableUse('a.b', create=True)", "create True; allowed: True with write=True"),
        ("TableUse('a.b', catalog_id='12')", "catalog_id '12'; allowed: '', or the 12 digits"),
        ("TableUse('a.b', ruleset='a b')", "ruleset 'a b'"),
        ("TableUse('a.b', ruleset='r', catalog_id='123456789012')", "rulesets are of one account"),
        (
            "TableUse('a.b', lake_formation=True, catalog_id='123456789012')",
            "that account grants its tables",
        ),
    ],
)
def test_what_makes_no_table_is_refused(names, declared, text):
    with pytest.raises(JobDefinitionError, match=text) as refused:
        eval(declared, names)  # noqa: S307 (the texts above)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("tables", "text"),
    [
        (["a.b", "a.b"], "'a.b' in tables twice"),
        (["a.*"], r"'a.\*' in tables"),
    ],
)
def test_uses_of_a_job_are_a_list_with_each_table_once(add, tables, text):
    with pytest.raises(JobDefinitionError, match=text):
        add("one", tables=tables)

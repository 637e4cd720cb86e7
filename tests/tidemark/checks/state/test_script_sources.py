"""What the text of a script tells about its bookmarked sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.checks.state.script_sources import ScriptSource, state_of_script
from tidemark.errors import UsageError

JOBS = Path(__file__).parents[4] / "glue_jobs"


def read(text):
    return state_of_script(text, "ingest").sources


def test_source_is_read_with_its_arguments():
    text = """
landed = context.create_dynamic_frame.from_options(
    connection_type="s3",
    connection_options={"paths": [args["source_path"], "s3://b/x/"], "recurse": True},
    format="json",
    transformation_ctx="landed",
)
"""

    assert read(text) == (ScriptSource("landed", "s3", ("s3://b/x/", "{--source_path}")),)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            'c.create_data_frame_from_options("s3", {"path": "s3://b/"}, "csv", {}, "a")',
            ScriptSource("a", "s3", ("s3://b/",)),
        ),
        (
            'c.create_dynamic_frame.from_catalog("db", "orders", "", "a")',
            ScriptSource("a", "catalog", ("db.orders",)),
        ),
        (
            'c.create_data_frame_from_catalog(name_space="db", table_name="t", '
            'additional_options={"jobBookmarkKeys": ["id"]}, transformation_ctx="a")',
            ScriptSource("a", "catalog", ("db.t",), ("id",)),
        ),
        (
            'c.create_dynamic_frame.from_options("postgresql", {"dbtable": "orders", '
            '"jobBookmarkKeys": ["id", "line"]}, transformation_ctx="a")',
            ScriptSource("a", "postgresql", ("orders",), ("id", "line")),
        ),
        (
            'c.getSource("s3", "json", "a", paths=["s3://b/"])',
            ScriptSource("a", "s3", ("s3://b/",)),
        ),
        (
            'frame.relationalize("root", "s3://t/", {}, "a")',
            ScriptSource("a", "relationalize"),
        ),
        (
            'Relationalize.apply(frame=f, staging_path="s3://t/", transformation_ctx="a")',
            ScriptSource("a", "relationalize"),
        ),
    ],
    ids=["options", "catalog", "frame", "jdbc", "getSource", "relationalize", "transform"],
)
def test_every_reader_with_a_bookmark_is_known(call, expected):
    assert read(call) == (expected,)


@pytest.mark.parametrize(
    "call",
    [
        'c.create_dynamic_frame.from_options("s3", {"paths": ["s3://b/"]})',
        'c.create_dynamic_frame.from_options("s3", {}, transformation_ctx="")',
        'c.create_dynamic_frame.from_options("dynamodb", {}, transformation_ctx="a")',
        'c.write_dynamic_frame.from_options(frame, "s3", {}, transformation_ctx="out")',
        'ApplyMapping.apply(frame=frame, transformation_ctx="mapped")',
        'spark.read.parquet("s3://b/")',
    ],
)
def test_what_keeps_no_bookmark_is_no_source(call):
    assert read(call) == ()


def test_names_are_followed_where_they_are_certain():
    text = """
BUCKET = "s3://raw/"
def main():
    name = f"{BUCKET}orders/"
    options = {"paths": [name]}
    ctx = "orders" + "_raw"
    context.create_dynamic_frame.from_options("s3", options, transformation_ctx=ctx)
"""

    assert read(text) == (ScriptSource("orders_raw", "s3", ("s3://raw/orders/",)),)


def test_function_of_the_script_makes_one_source_for_each_call():
    text = """
def both(root):
    for kind in ("a",):
        rows(f"{root}x/", "x")
    rows(path=root, ctx="y")

def rows(path, ctx, suffix="/new"):
    return context.create_dynamic_frame.from_options(
        "s3", {"paths": [path + suffix]}, transformation_ctx=ctx)

class Job:
    def run(self):
        both(args["one"])
        both("s3://two/")
"""

    found = [(source.transformation_ctx, *source.places) for source in read(text)]
    assert found == [
        ("x", "s3://two/x//new"),
        ("x", "{--one}x//new"),
        ("y", "s3://two//new"),
        ("y", "{--one}/new"),
    ]


def test_what_only_a_run_knows_stands_as_its_code():
    text = """
for table in tables():
    context.create_dynamic_frame.from_catalog(database=db(), table_name=table,
        transformation_ctx=f"source_{table}")
"""

    assert read(text) == (ScriptSource("source_<table>", "catalog", ("<db()>.<table>",)),)


@pytest.mark.parametrize(
    "text",
    [
        'r = gc.create_dynamic_frame\nr.from_catalog("d", "t", transformation_ctx="a")',
        'DynamicFrameReader(gc).from_catalog("d", "t", transformation_ctx="a")',
        'CTX, T = "a", "t"\ngc.create_dynamic_frame.from_catalog("d", T, transformation_ctx=CTX)',
        'C = {"x": "a"}\ngc.create_dynamic_frame.from_catalog("d", "t", transformation_ctx=C["x"])',
        'O = {"transformation_ctx": "a", "table_name": "t"}\n'
        'gc.create_dynamic_frame.from_catalog(database="d", **O)',
        "class A:\n    CTX = 'a'\n    def read(self):\n"
        "        gc.create_dynamic_frame.from_catalog('d', 't', transformation_ctx=self.CTX)",
        "class A:\n    def __init__(self, table, ctx='a'):\n"
        "        self.ctx = ctx\n    def read(self):\n"
        "        gc.create_dynamic_frame.from_catalog('d', 't', transformation_ctx=self.ctx)\n"
        "A('t').read()",
        "class A:\n    def __init__(self, table, *, ctx):\n        self.table = table\n"
        "        self.ctx = ctx\n    def read(self):\n        gc.create_dynamic_frame.from_catalog("
        "'d', self.table, transformation_ctx=self.ctx)\nA('t', ctx='a').read()",
        "async def read(ctx):\n"
        "    gc.create_dynamic_frame.from_catalog('d', 't', transformation_ctx=ctx)\nread('a')",
        "def outer():\n    ctx = 'a'\n    def inner():\n"
        "        gc.create_dynamic_frame.from_catalog('d', 't', transformation_ctx=ctx)",
        "def read(*, ctx='a'):\n"
        "    gc.create_dynamic_frame.from_catalog('d', 't', transformation_ctx=ctx)\nread()",
        "def outer(ctx):\n    def inner(table):\n"
        "        gc.create_dynamic_frame.from_catalog('d', table, transformation_ctx=ctx)\n"
        "    inner('t')\nouter('a')",
    ],
)
def test_ctx_is_found_however_it_is_written(text):
    assert read(text) == (ScriptSource("a", "catalog", ("d.t",)),)


@pytest.mark.parametrize(
    "loop",
    [
        "for t in ('a', 'b'):\n    READ",
        "TABLES = ['a', 'b']\nfor t in TABLES:\n    READ",
        "TABLES = {'a': 1, 'b': 2}\nfor t, n in TABLES.items():\n    READ",
        "frames = [READ for t in ['a', 'b']]",
        "def main():\n    for t in ['a', 'b']:\n        load(t)\ndef load(t):\n    READ",
    ],
)
def test_loop_over_a_list_that_is_written_out_makes_one_source_for_each_round(loop):
    source = 'gc.create_dynamic_frame.from_catalog("d", t, transformation_ctx=f"src_{t}")'

    assert read(loop.replace("READ", source)) == (
        ScriptSource("src_a", "catalog", ("d.a",)),
        ScriptSource("src_b", "catalog", ("d.b",)),
    )


@pytest.mark.parametrize(
    ("ctx", "stands_as"),
    [
        ('"src_%s" % TABLE', "src_orders"),
        ('"{}_raw".format(TABLE)', "orders_raw"),
        ('"{:>9}_raw".format(TABLE)', "<'{:>9}_raw'.format('orders')>"),
        ('args["name"].lower()', "<'{--name}'.lower()>"),
        ('args.get("name")', "{--name}"),
        ("tables[0]", "<tables[0]>"),
    ],
)
def test_what_is_known_of_an_expression_stands_in_it(ctx, stands_as):
    text = f"""
TABLE = "orders"
tables = []
tables.append(TABLE)
gc.create_dynamic_frame.from_catalog("d", "t", transformation_ctx={ctx})
"""

    assert read(text) == (ScriptSource(stands_as, "catalog", ("d.t",)),)


def test_attribute_of_several_objects_stands_with_all_its_values():
    text = """
class Source:
    def __init__(self, ctx):
        self.ctx = ctx
    def read(self):
        gc.create_dynamic_frame.from_catalog("d", "t", transformation_ctx=self.ctx)
Source("b").read()
Source("a").read()
"""

    assert read(text) == (ScriptSource("<self.ctx: a, b>", "catalog", ("d.t",)),)


def test_parameter_that_is_bound_again_is_not_certain():
    text = """
def read(ctx):
    ctx = ctx + "_x"
    gc.create_dynamic_frame.from_catalog("d", "t", transformation_ctx=ctx)
read("a")
"""

    ((source),) = read(text)
    assert source.transformation_ctx.startswith("<")


def test_chain_of_many_calls_is_read():
    chain = "".join(f".withColumn('c{n}', F.lit({n}))" for n in range(1_000))
    source = 'gc.create_dynamic_frame.from_catalog("d", "t", transformation_ctx="a").toDF()'

    assert read(source + chain) == (ScriptSource("a", "catalog", ("d.t",)),)


def test_name_that_is_assigned_twice_is_not_certain():
    text = """
ctx = "a"
if late:
    ctx = "b"
context.create_dynamic_frame.from_catalog("d", "t", transformation_ctx=ctx)
"""

    # Two statements of the module, of which one is inside an if: either may be the one.
    assert read(text) == (ScriptSource("<ctx>", "catalog", ("d.t",)),)


def test_functions_that_call_each_other_come_to_an_end():
    text = """
def a(ctx):
    b(ctx)
def b(ctx):
    a(ctx)
    context.create_dynamic_frame.from_catalog("d", "t", transformation_ctx=ctx)
"""

    assert read(text) == (ScriptSource("<ctx>", "catalog", ("d.t",)),)


@pytest.mark.parametrize("text", [" + ".join("a" * 3_000), "-" * 100_000 + "1"])
def test_text_that_is_nested_too_deeply_is_refused_by_name(text):
    with pytest.raises(UsageError, match="the script of job ingest is nested too deeply"):
        read(f"x = {text}")


def test_options_that_only_a_run_knows_tell_nothing():
    assert read("gc.create_dynamic_frame.from_options(*args, **options)") == ()


def test_text_that_is_no_python_is_refused_by_name():
    with pytest.raises(UsageError, match="the script of job ingest is not Python"):
        read("def :")


def test_sources_of_the_sample_jobs_are_found():
    found = {
        path.stem: [source.transformation_ctx for source in read(path.read_text())]
        for path in JOBS.glob("*.py")
    }

    assert (
        found.items()
        >= {
            "curate_flights": ["raw_flights", "raw_weather"],
            "ingest_flights": [],
            "ingest_weather": ["landing_weather", "weather_reports"],
            "publish_delays": ["curated_flights"],
        }.items()
    )


@pytest.mark.parametrize(
    ("text", "cursors"),
    [
        ('marks.windows(job_id=j, run_id=r, cursor="id", high=h)', ("id",)),
        ("with marks.window(job_id=j, run_id=r, cursor=CURSOR, high=h):\n    pass", ("rev",)),
        ('for t in ("a", "b"):\n    marks.open_window(cursor=f"{t}.id", high=h)', ("a.id", "b.id")),
        ('F.window("time", "1 hour")', ()),
    ],
)
def test_cursors_of_watermarks_are_found(text, cursors):
    assert state_of_script(f'CURSOR = "rev"\n{text}', "ingest").cursors == cursors


def test_cursor_of_the_sample_job_is_found():
    text = (JOBS / "ingest_flights.py").read_text(encoding="utf-8")

    assert state_of_script(text, "ingest-flights").cursors == ("updated_at",)

"""What a script does to its bookmark: each rule, and what it leaves alone."""

import textwrap

import pytest

from tidemark.checks.lint.linter import lint_source
from tidemark.errors import UsageError

HEAD = """\
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
args = getResolvedOptions(sys.argv, ["JOB_NAME"])
gc = GlueContext(SparkContext.getOrCreate())
job = Job(gc)
"""
FIRST = HEAD.count("\n") + 1  # the line on which a body begins
INIT = 'job.init(args["JOB_NAME"], args)\n'
ORDERS = 'orders = gc.create_dynamic_frame.from_catalog("db", "orders", transformation_ctx="o")\n'
WRITE = 'orders.toDF().write.parquet("s3://lake/orders/")\n'
COMMIT = "job.commit()\n"


def script(body: str) -> str:
    """Return a script whose body begins on line FIRST, with names for its usual statements."""
    text = textwrap.dedent(body)
    for name, statement in {
        "INIT": INIT,
        "ORDERS": ORDERS,
        "WRITE": WRITE,
        "COMMIT": COMMIT,
    }.items():
        text = text.replace(name, statement.rstrip())
    return HEAD + text


BAD = {
    "nothing is committed": ("INIT\nORDERS\nWRITE", [("commit-missing", "error", 0)]),
    "init is missing": ("ORDERS\nWRITE\nCOMMIT", [("init-missing", "error", 0)]),
    "init comes after the source": (
        "ORDERS\nINIT\nWRITE\nCOMMIT",
        [("init-not-on-every-path", "error", 0)],
    ),
    "init is conditional": (
        "if len(args) > 9:\n    INIT\nORDERS\nWRITE\nCOMMIT",
        [("init-not-on-every-path", "warning", 2)],
    ),
    "commit is in one branch, after the write": (
        "INIT\nORDERS\nWRITE\nif orders.count():\n    COMMIT\nprint('end')",
        [("commit-not-on-every-path", "warning", 1)],
    ),
    "commit is in one branch, with the write": (
        "INIT\nORDERS\nif orders.count():\n    WRITE\n    COMMIT\nprint('end')",
        [("commit-not-on-every-path", "warning", 1)],
    ),
    "the script exits before commit": (
        "INIT\nORDERS\nif orders.count() == 0:\n    sys.exit(0)\nWRITE\nCOMMIT",
        [("commit-not-on-every-path", "warning", 3)],
    ),
    "SystemExit is raised before commit": (
        "INIT\nORDERS\nWRITE\nif args:\n    raise SystemExit()\nCOMMIT",
        [("commit-not-on-every-path", "warning", 4)],
    ),
    "main returns before commit": (
        """\
        def main():
            INIT
            ORDERS
            if not orders.count():
                return
            WRITE
            COMMIT
        if __name__ == "__main__":
            main()
        """,
        [("commit-not-on-every-path", "warning", 4)],
    ),
    "an error is logged and the run succeeds": (
        "INIT\nORDERS\ntry:\n    WRITE\n    COMMIT\nexcept Exception as e:\n    print(e)",
        [("commit-not-on-every-path", "warning", 1)],
    ),
    "commit is in finally": (
        "INIT\nORDERS\ntry:\n    WRITE\nfinally:\n    COMMIT",
        [("commit-in-finally", "error", 5)],
    ),
    "commit is in a function that finally calls": (
        "def end():\n    COMMIT\nINIT\nORDERS\ntry:\n    WRITE\nfinally:\n    end()",
        [("commit-in-finally", "error", 1)],
    ),
    "commit follows a swallowed error": (
        "INIT\nORDERS\ntry:\n    WRITE\nexcept Exception as e:\n    print(e)\nCOMMIT",
        [("commit-after-error", "error", 4)],
    ),
    "an error is committed before it is raised": (
        "INIT\nORDERS\ntry:\n    WRITE\nexcept:\n    COMMIT\n    raise\nCOMMIT",
        [("commit-after-error", "error", 4)],
    ),
    "one table of many fails unseen": (
        """\
        INIT
        ORDERS
        for table in ("a", "b"):
            try:
                orders.toDF().write.parquet(table)
            except Exception as error:
                print(table, error)
        COMMIT
        """,
        [("commit-after-error", "error", 5)],
    ),
    "the source has no ctx": (
        'INIT\ngc.create_dynamic_frame.from_catalog(database="db", table_name="t")\nCOMMIT',
        [("ctx-missing", "error", 1)],
    ),
    "what a module of the company read is not committed": (
        "from company import load\nINIT\ndf = load(gc)\nif args:\n    COMMIT\nprint('end')",
        [("commit-not-on-every-path", "warning", 2)],
    ),
    "both branches commit, which is for a reader to see": (
        "INIT\nORDERS\nif orders:\n    WRITE\n    COMMIT\nelse:\n    COMMIT",
        [("commit-not-on-every-path", "warning", 1)],
    ),
    "a function commits under a condition": (
        "def end(ok):\n    if ok:\n        COMMIT\nINIT\nORDERS\nWRITE\nend(args)",
        [("commit-not-on-every-path", "warning", 4)],
    ),
    "an endless loop commits before it ends, likewise": (
        "INIT\nORDERS\nwhile True:\n    WRITE\n    if args:\n        COMMIT\n        break",
        [("commit-not-on-every-path", "warning", 1)],
    ),
    "the ctx is empty": (
        'INIT\ngc.create_dynamic_frame_from_catalog("db", "t", transformation_ctx="")\nCOMMIT',
        [("ctx-missing", "error", 1)],
    ),
    "the ctx is empty by position": (
        'INIT\ngc.create_dynamic_frame_from_catalog("db", "t", "", "")\nCOMMIT',
        [("ctx-missing", "error", 1)],
    ),
    "the ctx is misspelt": (
        'INIT\ngc.create_dynamic_frame.from_catalog("db", "t", tranformation_ctx="t")\nCOMMIT',
        [("ctx-missing", "error", 1)],
    ),
    "the source of a function that nothing calls has no ctx": (
        'def read():\n    return gc.getSource("s3", format="json")\nINIT\nORDERS\nCOMMIT',
        [("ctx-missing", "error", 1)],
    ),
    "Relationalize has no ctx": (
        'INIT\nORDERS\norders.relationalize("root", "s3://tmp/")\nCOMMIT',
        [("ctx-missing", "warning", 2)],
    ),
    "the ctx is an f-string": (
        'INIT\nfor t in ("a", "b"):\n    gc.create_dynamic_frame.from_catalog(\n'
        '        "db", t, transformation_ctx=f"src_{t}"\n    )\nCOMMIT',
        [("ctx-not-literal", "warning", 2)],
    ),
    "the ctx is an argument": (
        'INIT\ngc.getSource("s3", "json", args["JOB_NAME"])\nCOMMIT',
        [("ctx-not-literal", "warning", 1)],
    ),
    "the ctx is given by name and read from a loop": (
        """\
        def read(ctx):
            return gc.create_data_frame.from_catalog("db", "t", transformation_ctx=ctx)
        INIT
        frames = [read(name) for name in args]
        COMMIT
        """,
        [("ctx-not-literal", "warning", 1)],
    ),
    "the ctx is the time": (
        'import time\nINIT\nctx = f"orders_{time.time()}"\n'
        'gc.getSource("s3", transformation_ctx=ctx)\nCOMMIT',
        [("ctx-not-literal", "error", 3)],
    ),
    "two sources share a ctx": (
        'INIT\nORDERS\ngc.getSource("s3", "json", "o")\nCOMMIT',
        [("ctx-duplicate", "error", 2)],
    ),
    "a source in a loop shares its ctx with itself": (
        'INIT\nfor t in args:\n    gc.getSource("s3", "json", "o")\nCOMMIT',
        [("ctx-duplicate", "error", 2)],
    ),
    "a source in a list comprehension shares its ctx with itself": (
        "INIT\nall = [gc.create_dynamic_frame.from_catalog('db', name, transformation_ctx='o')\n"
        "       for name in ('orders', 'items')]\nCOMMIT",
        [("ctx-duplicate", "error", 1)],
    ),
    "a function that opens a source is called in a dict comprehension": (
        """\
        INIT
        def opened(table):
            return gc.create_dynamic_frame.from_catalog("db", table, transformation_ctx="o")
        frames = {table: opened(table) for table in ("orders", "items")}
        COMMIT
        """,
        [("ctx-duplicate", "error", 2)],
    ),
    "a function that opens a source is handed to a pool": (
        "def work(table):\n    gc.getSource('s3', 'json', 'o')\nINIT\npool.map(work, args)\nCOMMIT",
        [("ctx-duplicate", "error", 1)],
    ),
    "a lambda that opens a source is mapped": (
        "INIT\nall = list(map(lambda table: gc.getSource('s3', 'json', 'o'), args))\nCOMMIT",
        [("ctx-duplicate", "error", 1)],
    ),
    "the parameter of a lambda hides a constant": (
        "INIT\nctx = 'o'\nlist(map(lambda ctx: gc.getSource('s3', 'json', ctx), args))\nCOMMIT",
        [("ctx-not-literal", "warning", 2)],
    ),
    "a lambda with a name exits": (
        "stop = lambda: sys.exit(0)\nINIT\nORDERS\nif args:\n    stop()\nWRITE\nCOMMIT",
        [("commit-not-on-every-path", "warning", 0)],
    ),
    "a lambda that is called in its place exits": (
        "INIT\nORDERS\nif args:\n    (lambda: sys.exit(0))()\nWRITE\nCOMMIT",
        [("commit-not-on-every-path", "warning", 3)],
    ),
    "a function opens the same ctx twice": (
        """\
        def read(path):
            return gc.create_dynamic_frame.from_options(
                "s3", {"paths": [path]}, "json", transformation_ctx="src"
            )
        INIT
        first, second = read("s3://a/"), read("s3://b/")
        COMMIT
        """,
        [("ctx-duplicate", "error", 1)],
    ),
    "a sink has the ctx of the source": (
        "INIT\nORDERS\ngc.write_dynamic_frame.from_options(\n"
        '    orders, "s3", {"path": "s3://a/"}, transformation_ctx="o"\n)\nCOMMIT',
        [("ctx-duplicate", "warning", 2)],
    ),
    "init gets no arguments": (
        'job.init(args["JOB_NAME"])\nORDERS\nWRITE\nCOMMIT',
        [("init-without-args", "error", 0)],
    ),
    "init gets no arguments, by name": (
        'job.init(job_name="x")\nORDERS\nWRITE\nCOMMIT',
        [("init-without-args", "error", 0)],
    ),
    "a suppressed error is committed": (
        "INIT\nORDERS\nwith suppress(Exception):\n    WRITE\nCOMMIT",
        [("commit-after-error", "error", 2)],
    ),
    "only spark.sql reads": (
        'INIT\ndf = gc.spark_session.sql("SELECT * FROM db.t")\nCOMMIT',
        [("dataframe-reader", "error", 1)],
    ),
    "only spark.table reads": (
        'INIT\ndf = spark.table("db.t")\nCOMMIT',
        [("dataframe-reader", "error", 1)],
    ),
    "only spark.read reads": (
        'INIT\ndf = gc.spark_session.read.format("csv").load("s3://a/")\nCOMMIT',
        [("dataframe-reader", "error", 1)],
    ),
}


@pytest.mark.parametrize(("body", "expected"), BAD.values(), ids=BAD)
def test_what_loses_or_defeats_a_bookmark_is_found(find, body, expected):
    found = find(script(body))

    assert found == [(rule, severity, FIRST + line) for rule, severity, line in expected]


@pytest.mark.parametrize("body", [body for body, _ in BAD.values()], ids=BAD)
@pytest.mark.parametrize("option", ["job-bookmark-disable", "job-bookmark-pause"])
def test_a_job_that_moves_no_bookmark_has_none_of_these_findings(find, body, option):
    assert find(script(body), option) == []


GOOD = {
    "the run fails before commit": "INIT\nORDERS\nif not orders:\n    sys.exit(1)\nWRITE\nCOMMIT",
    "an exit says why": "INIT\nORDERS\nif not orders:\n    sys.exit('no orders')\nWRITE\nCOMMIT",
    "nothing is read before an exit": "INIT\nif not args:\n    sys.exit()\nORDERS\nWRITE\nCOMMIT",
    "each window is committed": "INIT\nfor t in args:\n    WRITE\n    COMMIT",
    "a comprehension goes through a source that is opened once": (
        "INIT\nrows = [row for row in gc.create_dynamic_frame.from_catalog("
        "'db', 'orders', transformation_ctx='o').toDF().collect()]\nCOMMIT"
    ),
    "JOB_NAME is always there": 'if "JOB_NAME" in args:\n    INIT\nORDERS\nWRITE\nCOMMIT',
    "another name for a local test": (
        'if "--JOB_NAME" not in sys.argv:\n    job.init("test", {})\nelse:\n    INIT\n'
        "ORDERS\nCOMMIT"
    ),
    "the error is raised again": (
        "INIT\nORDERS\ntry:\n    WRITE\nexcept Exception as e:\n    print(e)\n    raise\nCOMMIT"
    ),
    "the error is remembered": (
        "INIT\nORDERS\nok = True\ntry:\n    WRITE\nexcept Exception:\n    ok = False\n"
        "if not ok:\n    raise ValueError('failed')\nCOMMIT"
    ),
    "commit depends on success": (
        "INIT\nORDERS\nerrors = []\ntry:\n    WRITE\nexcept Exception as e:\n    errors.append(e)\n"
        "if errors:\n    sys.exit(1)\nCOMMIT"
    ),
    "a write is tried again": (
        "INIT\nORDERS\nfor attempt in range(3):\n    try:\n        WRITE\n        break\n"
        "    except Exception:\n        if attempt == 2:\n            raise\nCOMMIT"
    ),
    "what is not expected is raised again": (
        "INIT\nORDERS\ntry:\n    WRITE\nexcept Exception as error:\n"
        "    if 'NoSuchKey' not in str(error):\n        raise\nCOMMIT"
    ),
    "a narrow exception is suppressed": (
        "INIT\nORDERS\nwith suppress(FileExistsError):\n    WRITE\nCOMMIT"
    ),
    "each slice of a backlog has its own init": (
        "while args:\n    INIT\n    ORDERS\n    WRITE\n    COMMIT"
    ),
    "init gets its arguments by name": 'job.init(args=args, job_name="x")\nORDERS\nCOMMIT',
    "init gets its arguments in a list": "job.init(*both)\nORDERS\nCOMMIT",
    "a module is asked with SQL": "import duckdb\nINIT\nduckdb.sql('SELECT 1')\nCOMMIT",
    "a narrow exception is expected": (
        "INIT\nORDERS\ntry:\n    WRITE\nexcept FileExistsError:\n    pass\nCOMMIT"
    ),
    "an error beside the data is swallowed": (
        "INIT\nORDERS\nWRITE\ntry:\n    gc.purge_s3_path('s3://tmp/')\nexcept Exception:\n"
        "    pass\nCOMMIT"
    ),
    "another database commits in finally": (
        "INIT\nORDERS\ntry:\n    WRITE\nfinally:\n    database.commit()\nCOMMIT"
    ),
    "the ctx is a constant": (
        'CTX = "orders"\nINIT\ngc.getSource("s3", transformation_ctx=f"{CTX}_raw")\nCOMMIT'
    ),
    "the ctx is a format of constants": (
        'INIT\ngc.getSource("s3", transformation_ctx="path={}".format("orders"))\nCOMMIT'
    ),
    "the ctx is put together from constants": (
        "VERSION = 2\nINIT\n"
        'gc.getSource("s3", transformation_ctx="_".join(["raw", f"v{VERSION}"]).lower())\n'
        'gc.getSource("s3", transformation_ctx="%s_%d" % ("raw", VERSION))\n'
        'gc.getSource("s3", transformation_ctx="orders_" + str(VERSION))\nCOMMIT'
    ),
    "the target is read in full, and written": (
        "INIT\nORDERS\nold = gc.create_dynamic_frame.from_options(\n"
        '    "s3", {"paths": ["s3://lake/orders/"]}, "parquet"\n)\nWRITE\nCOMMIT'
    ),
    "the target of a sink is read in full": (
        'INIT\nORDERS\ntarget = args["JOB_NAME"]\n'
        'old = gc.create_dynamic_frame.from_options("s3", {"paths": [target]}, "json")\n'
        'gc.write_dynamic_frame.from_options(orders, "s3", {"path": target}, "json")\nCOMMIT'
    ),
    "the table that is written is read in full": (
        'INIT\nORDERS\nold = gc.create_dynamic_frame.from_catalog("db", "merged")\n'
        'gc.write_dynamic_frame.from_catalog(orders, "db", "merged")\nCOMMIT'
    ),
    "a source without a bookmark, and no commit": (
        "INIT\ngc.create_dynamic_frame.from_options('dynamodb', {})\nprint('end')"
    ),
    "the ctx is a default": (
        "def read(ctx='orders'):\n    gc.getSource('s3', 'json', ctx)\nINIT\nread()\nCOMMIT"
    ),
    "the ctx is an attribute of a class": (
        "class A:\n    CTX = 'a'\n    def read(self):\n"
        "        gc.getSource('s3', 'json', self.CTX)\n"
        "INIT\nA().read()\nCOMMIT"
    ),
    "the ctx is hidden": "INIT\ngc.getSource('s3', **args)\nCOMMIT",
    "one ctx in two branches": (
        "INIT\nif args:\n    a = gc.getSource('s3', 'json', 'a')\nelse:\n"
        "    a = gc.getSource('s3', 'csv', 'a')\nCOMMIT"
    ),
    "one ctx, and a return between": (
        "def read():\n    if args:\n        return gc.getSource('s3', 'json', 'a')\n"
        "    return gc.getSource('s3', 'csv', 'a')\nINIT\nread()\nCOMMIT"
    ),
    "a source that knows no bookmark": (
        "INIT\nORDERS\ngc.create_dynamic_frame.from_options('dynamodb', {})\nCOMMIT"
    ),
    "a table format that knows no bookmark": (
        "INIT\nORDERS\ngc.create_data_frame.from_options('s3', {}, format='iceberg')\nCOMMIT"
    ),
    "a lookup by spark.read beside a source": (
        "INIT\nORDERS\nspark.read.parquet('s3://dim/')\nWRITE\nCOMMIT"
    ),
    "a module of the company reads": (
        "from company import load\nINIT\nspark.read.csv('s3://dim/')\nload(gc, 'orders')\nCOMMIT"
    ),
    "a module of the company commits": "from company import end\nINIT\nORDERS\nWRITE\nend(job)",
    "a function that nothing visible calls commits": (
        "def end():\n    COMMIT\nINIT\nORDERS\nWRITE\ngetattr(sys.modules[__name__], 'end')()"
    ),
    "a class of the script is called Job": (
        "from awsglue.job import Job as GlueJob\nclass Job:\n    def run(self):\n"
        "        self.glue = GlueJob(gc)\n        self.glue.init('x', args)\n"
        "        ORDERS\n        WRITE\n        self.glue.commit()\nJob().run()"
    ),
    "the job is part of a dataclass": (
        "@dataclass\nclass Run:\n    handle: Job\nINIT\nrun = Run(handle=job)\nORDERS\nWRITE\n"
        "run.handle.commit()"
    ),
    "another thing exits": "INIT\nORDERS\nWRITE\nbrowser.exit()\nCOMMIT",
    "recursion": "def f(n):\n    return f(n - 1) if n else 0\nINIT\nORDERS\nf(3)\nWRITE\nCOMMIT",
    "a function is handed to what tries it again": (
        "def work():\n    gc.getSource('s3', 'json', 'o')\nINIT\nretry(work)\nCOMMIT"
    ),
    "a lambda is, with the constants of the function around it": (
        "def load(ctx='o'):\n    return retry(lambda: gc.getSource('s3', 'json', ctx))\n"
        "INIT\nload()\nCOMMIT"
    ),
    "a lambda is handed to a map of rows": (
        "INIT\nORDERS\nids = list(map(lambda row: row.id, orders.toDF().collect()))\nCOMMIT"
    ),
}


@pytest.mark.parametrize("body", GOOD.values(), ids=GOOD)
def test_what_is_right_is_not_found(find, body):
    assert find(script(body)) == []


def test_without_a_promise_of_bookmarks_dataframes_may_be_read(find):
    text = script("INIT\ndf = spark.read.parquet('s3://a/')\nCOMMIT")

    assert find(text, None) == []
    assert [rule for rule, *_ in find(text)] == ["dataframe-reader"]


@pytest.mark.parametrize(
    "body",
    [
        "INIT\nspark.read.parquet('s3://a/').write.mode('overwrite').parquet('s3://b/')",
        "spark.read.parquet('s3://a/').write.parquet('s3://b/')\nCOMMIT",
        "INIT\ntry:\n    spark.table('a.b').write.parquet('s3://b/')\nfinally:\n    COMMIT",
        "job.init('x')\nspark.sql('SELECT 1').write.parquet('s3://b/')\nCOMMIT",
    ],
)
def test_where_only_spark_reads_init_and_commit_change_nothing(find, body):
    assert find(script(body), None) == []


def test_what_is_deleted_before_it_is_read_is_an_error_in_every_job(find):
    body = "df = spark.read.orc('s3://a/')\ndf.write.mode('overwrite').orc('s3://a/')"

    for option in (None, "job-bookmark-disable"):
        assert find(script(body), option) == [("overwrites-its-source", "error", FIRST + 1)]


def test_a_module_that_makes_no_context_is_no_job(find):
    module = "def read(gc):\n    return gc.create_dynamic_frame.from_catalog('db', 't')\n"

    assert find(module) == [("ctx-missing", "error", 2)]


def test_a_script_whose_functions_call_each_other_without_end_is_read(find):
    functions = [f"def f{n}():\n    f{n + 1}()\n    f{n + 1}()" for n in range(30)]
    body = "\n".join([*functions, "def f30():\n    pass", "INIT\nORDERS\nf0()\nWRITE"])

    assert [rule for rule, *_ in find(script(body))] == ["commit-missing"]


@pytest.mark.nightly
def test_a_chain_of_many_calls_can_be_read(find):
    chain = "".join(f"\n    .withColumn('c{n}', F.lit({n}))" for n in range(400))
    body = f"INIT\nORDERS\ndf = (orders.toDF(){chain})\ndf.write.parquet('s3://a/')"

    assert [rule for rule, *_ in find(script(body))] == ["commit-missing"]


def test_a_script_that_is_nested_too_deeply_is_refused(find):
    with pytest.raises(UsageError, match=r"job\.py is nested too deeply to be linted"):
        find("x = " + " + ".join("a" * 2_000))


def test_a_misspelt_ctx_is_named():
    body = 'INIT\ngc.getSource("s3", transformation_context="a")\nCOMMIT'

    (finding,) = lint_source(script(body), "job.py", None).findings

    assert "(transformation_context is ignored)" in finding.text


@pytest.mark.parametrize("text", ["print 'x'", "def f(:"])
def test_what_is_not_python_is_refused_with_its_line(find, text):
    with pytest.raises(UsageError, match=r"job\.py, line 2: not Python 3"):
        find(f"\n{text}\n")


@pytest.mark.parametrize("text", ["", "# only a comment\n"])
def test_an_empty_script_has_no_finding(find, text):
    assert find(text) == []

# What programs share that load increments under contracts; finds `spark`.
from watermarks import WatermarkAdmin, append_window, merge_window
from watermarks.schema import Contract

table_name, job, *given = json.loads(sys.argv[2])
watermarks = WatermarkAdmin(table_name)
why = {"reason": "new tips", "actor": "ana"}


def load(run, columns, table, contract, high=None, source="", keys=None):
    """Load one increment; return what came of it."""
    window = watermarks.open_window(
        job, run_id=f"jr_{run}", cursor="id", high=high or run, source=source
    )
    frame = spark.sql(f"SELECT {columns}")
    try:
        if keys:
            merge_window(frame, table, window, keys, schema=contract)
        else:
            append_window(frame, table, window, schema=contract)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return watermarks.commit_window(window).version


def accept(source=""):
    try:
        return watermarks.accept_schema(job, source=source, **why).version
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def state(table, source=""):
    latest = watermarks.latest(job, source=source)
    held = latest.schemas.get(f"table:{table}") if latest else None
    rows = sorted(map(list, spark.table(table).collect()), key=str)
    return [spark.table(table).schema.simpleString(), rows, held and held.columns]

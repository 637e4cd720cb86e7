# What programs about contracts share; stands before them, and finds `spark`.
from watermarks import Window


def window(number, attempt=None):
    attempt = attempt or number
    return Window("j", f"jr_{attempt}", "at", f"{number:010d}-ab", attempt, None, 99)


def shown(table):
    return [
        spark.table(table).schema.simpleString(),
        sorted(map(list, spark.table(table).collect()), key=str),
    ]


def error_of(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None

"""Windows and Spark: which rows a window has, and where they go. Imports PySpark when called."""

from .dialects import Dialect
from .files import read_committed, write_window
from .frames import newest, rows_of, window_condition
from .jdbc import newest_jdbc, read_jdbc
from .merge import latest_by_key, merge_window
from .sql import Subquery, window_predicate
from .upsert import upsert_jdbc

__all__ = [
    "Dialect",
    "Subquery",
    "latest_by_key",
    "merge_window",
    "newest",
    "newest_jdbc",
    "read_committed",
    "read_jdbc",
    "rows_of",
    "upsert_jdbc",
    "window_condition",
    "window_predicate",
    "write_window",
]

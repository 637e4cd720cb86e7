"""What runs have read and listed, and what of it they have then written."""

from tidemark.local_state.home import Home
from tidemark.local_state.machine.own_files import read_lines
from tidemark.local_state.operations import (
    COPY,
    FOLDER,
    LISTED,
    OPENED,
    PUT,
    AwsRead,
    read_operations,
    table_uri,
    tables_changed,
)

OPENS = "spark GetObject "  # begins the place of what Spark opens


def read_opened(home: Home) -> list[tuple[str, str]]:
    """Return the objects that the JVMs of a home have read, as run ids and URIs, in order."""
    return list(dict.fromkeys((run_id, uri) for run_id, uri, _ in _opened(home)))


def read_by_spark(home: Home) -> list[AwsRead]:
    """Return what each line opens before its run has written it, where the run can continue."""
    changes = reversed(read_operations(home))
    written = {(made.run_id, place): made.number for made in changes for place in made.places}
    return [
        AwsRead(0, run_id, f"{OPENS}{uri}", done, tuple(calls), may_go_on)
        for run_id, uri, done, calls, may_go_on in read_lines(home.root / FOLDER / OPENED)
        if may_go_on and written.get((run_id, uri), done + 1) > done
    ]


def read_first(home: Home, *, is_written: bool = False) -> set[str]:
    """Return the objects and tables that a run has read before it wrote them, if it did at all.

    `is_written`: only those that it did write.
    """
    written = _first_writes(home)
    return {
        uri
        for run_id, uri, done in _opened(home)
        if done < written.get((run_id, uri), 0 if is_written else done + 1)
    }


def listed_first(home: Home) -> set[str]:
    """Return the objects whose places a script has listed in the run that then wrote them."""
    listings = _listings_of_scripts(home)
    return {
        place
        for (run_id, place), number in _first_writes(home).items()
        for lister, prefix, done in listings
        if lister == run_id and done < number and place.startswith(prefix)
    }


def listed_by_scripts(home: Home) -> list[tuple[str, str]]:
    """Return what scripts have listed themselves, as run ids and prefixes of URIs, in order."""
    return [(run_id, prefix) for run_id, prefix, _ in _listings_of_scripts(home)]


def _listings_of_scripts(home: Home) -> list[tuple[str, str, int]]:
    """Return run ids, prefixes, and how many operations had been recorded by then."""
    listings = read_lines(home.root / FOLDER / LISTED)
    return [(run_id, prefix, done) for prefix, _, run_id, done in listings if run_id]


def _first_writes(home: Home) -> dict[tuple[str, str], int]:
    """Return the numbers of the first operations that wrote objects and tables, for each run."""
    written: dict[tuple[str, str], int] = {}
    for operation in read_operations(home):
        places = list(map(table_uri, tables_changed(operation)))
        for place in (operation.places[-1], *places) if operation.kind in (PUT, COPY) else places:
            written.setdefault((operation.run_id, place), operation.number)
    return written


def _opened(home: Home) -> list[tuple[str, str, int]]:
    """Return run ids, URIs, and how many operations had been recorded when they were opened."""
    return [
        (run_id, uri, done) for run_id, uri, done, *_ in read_lines(home.root / FOLDER / OPENED)
    ]

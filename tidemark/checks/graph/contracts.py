"""Finds contracts of readers that refuse what those of writers let in: pure, on plain data."""

from collections.abc import Iterator, Mapping

from tidemark.checks.graph.folders import Folders, is_same, overlap
from tidemark.checks.graph.model import DataContract, Graph, GraphJob, Problem
from tidemark.model.column_types import fits


def contracts(graph: Graph) -> Iterator[Problem]:
    """Yield contracts that refuse data of the graph, and quarantines that are read as data."""
    writing = Folders()
    for job in graph.jobs:
        writing.add(job, [*(uri for uri, _ in job.allows), *job.quarantines])
    for reader in graph.nodes:
        for writer in writing.touching(reader.reads):
            if writer.at != reader.at:
                yield from _of_pair(reader, writer)
                yield from _taken_out(reader, writer)


def _of_pair(reader: GraphJob, writer: GraphJob) -> Iterator[Problem]:
    for uri, mine in reader.accepts:
        for other, theirs in writer.allows:
            if overlap([uri], [other]) and (why := refusal(mine, theirs)):
                yield reader.acceptable(
                    "contract-refuses",
                    f"the {reader} reads {uri} under a contract, and '{writer.name}' {why}",
                    "give both jobs one Dataset, or let the contract of the reader accept it",
                )


def _taken_out(reader: GraphJob, writer: GraphJob) -> Iterator[Problem]:
    for uri, quarantine in overlap(reader.reads, writer.quarantines):
        if not is_same(uri, quarantine):
            yield reader.acceptable(
                "quarantine-as-data",
                f"the {reader} reads {uri}, and '{writer.name}' takes rows that do not fit to "
                f"{quarantine}, one inside the other",
                "give the quarantine a folder outside of data, or read exactly that folder",
            )


def refusal(reader: DataContract, writer: DataContract) -> str:
    """Return what a writer lets in and its reader refuses; empty if that is nothing."""
    # Two equal contracts are one declaration, which the reader need not apply.
    if reader == writer:
        return ""
    rescues = "rescue" in (writer.columns, writer.types)
    if rescues and writer.rescued == reader.rescued:
        return f"adds the column {writer.rescued}, which the reader has itself: give it rescued="
    if not reader.fields:  # they are those of the frame
        return ""
    known = {**writer.fields, **({writer.rescued: "string"} if rescues else {})}
    return _refused_column(reader, writer, known) or _refused_type(reader, writer, known)


def _refused_column(reader: DataContract, writer: DataContract, known: Mapping[str, str]) -> str:
    more = sorted(known.keys() - reader.fields.keys())
    fewer = sorted(reader.fields.keys() - known.keys()) if writer.fields else []
    if (reader.columns, writer.columns) == ("freeze", "evolve"):
        return "adds new columns, which the reader freezes"
    if reader.columns == "freeze" and more:
        return f"writes the column {more[0]}, which the reader freezes out"
    is_demanded = reader.missing == "freeze" and fewer
    return f"does not promise the column {fewer[0]}, a must of the reader" if is_demanded else ""


def _refused_type(reader: DataContract, writer: DataContract, known: Mapping[str, str]) -> str:
    if (reader.types, writer.types) == ("freeze", "evolve"):
        return "makes types wider, which the reader freezes"
    for name in sorted(known.keys() & reader.fields.keys()):
        old, new = known[name], reader.fields[name]
        may_widen = reader.types == "evolve" and old != "string" and fits(new, old)
        if reader.types in ("evolve", "freeze") and not (fits(old, new) or may_widen):
            return f"writes the column {name} as {old}, and the reader has it as {new}"
    return ""

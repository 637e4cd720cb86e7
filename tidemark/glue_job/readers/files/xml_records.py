"""Elements of XML files as dictionaries of strings: those with the row tag are records.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-xml-home.html
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lxml import etree

from tidemark.glue_job.readers.files.compression import CHUNK, open_file
from tidemark.glue_job.readers.files.formats import Format


@dataclass(frozen=True)
class XmlOptions:
    """How elements become values; the names are AWS's, see `xml_options`."""

    row_tag: str
    encoding: str | None = None
    attribute_prefix: str = "_"
    value_tag: str = "_VALUE"
    has_attributes: bool = True
    keeps_blanks: bool = True
    strips: bool = False


def xml_options(xml: Format) -> XmlOptions:
    """Return the format options of a source, with AWS's defaults."""
    return XmlOptions(
        row_tag=str(xml.options["rowTag"]),
        encoding=xml.options.get("encoding"),
        attribute_prefix=str(xml.options.get("attributePrefix", "_")),
        value_tag=str(xml.options.get("valueTag", "_VALUE")),
        has_attributes=not xml.is_on("excludeAttribute", "excludeAttributes"),
        keeps_blanks=not xml.is_on("treatEmptyValuesAsNulls"),
        strips=xml.is_on("ignoreSurroundingSpaces"),
    )


def records(
    path: str, options: XmlOptions, stray_texts: list[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the row elements of a file as dictionaries of strings, dictionaries and lists."""
    depth = 0
    with open_file(path) as opened:
        events = etree.iterparse(
            opened,
            events=("start", "end"),
            encoding=options.encoding,
            resolve_entities=False,
            huge_tree=True,
        )
        for event, element in events:
            if _name(element) != options.row_tag:
                if stray_texts is not None and event == "end" and depth == 0:
                    stray_texts += _text_between_rows(element, options.row_tag)
                continue
            depth += 1 if event == "start" else -1
            if event == "end" and depth == 0:
                value = _value(element, options)
                text = {} if value is None else {options.value_tag: value}
                yield value if isinstance(value, dict) else text
                element.clear(keep_tail=True)


def has_tag(path: str, options: XmlOptions) -> bool:
    """Return whether the row tag may be in a file, by a search without parsing."""
    tag, end = f"<{options.row_tag}".encode(), b""
    with open_file(path) as opened:
        while part := opened.read(CHUNK):
            if tag in end + part or b"\0" in part:  # it may be UTF-16
                return True
            end = part[-len(tag) :]
    return False


def _text_between_rows(element: Any, row_tag: str) -> Iterator[str]:
    """Yield the text directly in an element that has rows, without that of other elements."""
    if any(isinstance(child.tag, str) and _name(child) == row_tag for child in element):
        texts = [element.text, *[child.tail for child in element]]
        yield from (text.strip() for text in texts if text and text.strip())


def _value(element: Any, options: XmlOptions) -> Any:
    """Return an element as a dictionary, or as its string if it has nothing else."""
    fields: dict[str, Any] = {}
    if options.has_attributes:
        for name, value in element.attrib.items():
            # Of several namespaces keep all, where spark-xml keeps the last one.
            _add(fields, options.attribute_prefix + etree.QName(name).localname, value)
    for child in element:
        if isinstance(child.tag, str):
            _add(fields, _name(child), _value(child, options))
        elif child.tag is etree.Entity:
            raise ValueError(f"the entity {child.text} is not resolved: write the text itself")
    text = _element_text(element, options, has_fields=bool(fields))
    if not fields:
        return text
    if text is not None:
        _add(fields, options.value_tag, text)
    return fields


def _add(fields: dict[str, Any], name: str, value: Any) -> None:
    if name not in fields:
        fields[name] = value
    elif isinstance(fields[name], list):
        fields[name].append(value)
    else:
        fields[name] = [fields[name], value]


def _element_text(element: Any, options: XmlOptions, *, has_fields: bool) -> str | None:
    text = "".join([element.text or "", *[child.tail or "" for child in element]])
    is_blank = not text.strip()
    if not text or (is_blank and (has_fields or not options.keeps_blanks)):
        return None
    return text.strip() if options.strips else text


def _name(element: Any) -> str:
    """Return the name of an element as in the file, with its prefix."""
    local = etree.QName(element).localname
    return f"{element.prefix}:{local}" if element.prefix else local

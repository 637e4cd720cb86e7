"""Reads what conditions compare with: numbers, strings, keywords, dates and durations."""

from dataclasses import replace

from tidemark.model.dqdl.dynamic import ARITHMETIC, dynamic_number, joined
from tidemark.model.dqdl.rules import (
    KEYWORDS,
    SECONDS,
    Duration,
    Keyword,
    Now,
    Number,
    Operand,
    Text,
)
from tidemark.model.dqdl.tokens import NUMBER, STRING, WORD, Stream

_LITERALS = {word: word.upper() for word in (*KEYWORDS, *(keyword.lower() for keyword in KEYWORDS))}


def operand(stream: Stream) -> Operand:
    """Return the operand that comes next."""
    if stream.at(STRING):
        text = stream.pop().text
        return Text(unquoted(text), text)
    if stream.sees("now") or (stream.sees("(") and stream.after_next.text == "now"):
        return _now(stream)
    if stream.next.text in _LITERALS:
        return Keyword(_LITERALS[stream.pop().text])
    if stream.at(NUMBER) and stream.after_next.text in SECONDS:
        return duration(stream)
    return _number(stream)


def unquoted(text: str) -> str:
    """Return the value of a string; a backslash stays, but before a quote."""
    return text[1:-1].replace('\\"', '"')


def duration(stream: Stream) -> Duration:
    """Return the duration that comes next."""
    amount, unit = stream.pop(), stream.next
    if not amount.text.isdigit() or unit.text not in SECONDS:
        raise stream.wrong(f"a duration is a number and one of {', '.join(SECONDS)}")
    stream.pop()
    return Duration(int(amount.text), unit.text)


def _now(stream: Stream) -> Now:
    in_parentheses = stream.take_if("(")
    for sign in ("now", "(", ")"):
        stream.take(sign)
    if not in_parentheses:
        return Now()
    moment = Now()
    if stream.sees("-", "+"):
        sign = stream.pop().text
        moment = Now(sign, duration(stream))
    stream.take(")")
    return moment


def _number(stream: Stream) -> Number:
    """Return a number or an expression; operators count from left to right, as in the grammar."""
    term = _term(stream)
    while stream.sees(*ARITHMETIC):
        term = joined(stream.pop().text, term, _term(stream))
    return term


def _term(stream: Stream) -> Number:
    if stream.take_if("("):
        inner = _number(stream)
        stream.take(")")
        return replace(inner, text=f"({inner.text})")
    sign = "-" if stream.take_if("-") else ""
    if stream.at(NUMBER):
        text = sign + stream.pop().text
        return Number(float(text), text)
    if stream.at(WORD) and stream.after_next.text == "(":
        number = dynamic_number(stream)
        return joined("-", Number(0.0, ""), number) if sign else number
    raise stream.wrong(
        f"expected a number, a string, NULL, EMPTY, WHITESPACES_ONLY or now(), found "
        f"{stream.next.text}"
    )

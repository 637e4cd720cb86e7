"""Reads DQDL: rules, analyzers and constants.

Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html, https://github.com/awslabs/dqdl
"""

from collections.abc import Callable

from tidemark.errors import UnsupportedError
from tidemark.model.dqdl.operands import operand, unquoted
from tidemark.model.dqdl.rules import (
    AnyRule,
    Composite,
    Operand,
    Rule,
    RuleCondition,
    Ruleset,
    Text,
)
from tidemark.model.dqdl.tokens import END, STRING, WORD, Stream

_AFTER_PARAMETERS = ("between", "in", "matches", "not", "where", "with", "labels", "or", "OR")
# What the grammar or the page of AWS has and does not run here.
_NOT_HERE = ("Metadata", "DataSources", "DefaultLabels")


def parse(text: str) -> Ruleset:
    """Return the rules and the analyzers of a DQDL document."""
    stream = Stream(text)
    try:
        return _ruleset(stream)
    except RecursionError:
        raise stream.wrong("it is nested too deeply") from None


def _ruleset(stream: Stream) -> Ruleset:
    while stream.at(WORD) and not stream.sees("Rules", "Analyzers"):
        _constant(stream)
    if stream.at(END):
        raise stream.wrong("there is no section 'Rules = [ … ]'")
    rules = _rules(stream) if stream.take_if("Rules") else ()
    analyzers: list[Rule] = []
    if stream.take_if("Analyzers"):
        _open(stream)
        while not stream.take_if("]"):
            _separate(stream, bool(analyzers))
            analyzers.append(_rule(stream))
    if not stream.at(END):
        raise stream.wrong(
            f"expected the end, found {stream.next.text}; the sections are Rules and Analyzers, in "
            "this order, and no comma is between them"
        )
    return Ruleset(rules, tuple(analyzers))


def _constant(stream: Stream) -> None:
    if stream.sees(*_NOT_HERE):
        raise _unsupported(stream.next.text)
    name = stream.pop().text
    stream.take("=")
    stream.constants[name] = _operands(stream) if stream.sees("[") else (operand(stream),)


def _rules(stream: Stream) -> tuple[AnyRule, ...]:
    rules: list[AnyRule] = []
    _open(stream)
    while not stream.take_if("]"):
        _separate(stream, bool(rules))
        rules.append(_either(stream))
    return tuple(dict.fromkeys(rules))


def _open(stream: Stream) -> None:
    stream.take("=")
    stream.take("[")


def _separate(stream: Stream, is_next: bool) -> None:
    if is_next:
        stream.take(",", " or ']'")


def _either(stream: Stream) -> AnyRule:
    """Return rules that are joined by or, each of them rules that are joined by and."""
    return _joined(stream, "OR", lambda: _joined(stream, "AND", lambda: _single(stream)))


def _joined(stream: Stream, word: str, read: Callable[[], AnyRule]) -> AnyRule:
    items = [read()]
    while stream.take_if(word, word.lower()):
        items.append(read())
    return items[0] if len(items) == 1 else Composite(word, tuple(items))


def _single(stream: Stream) -> AnyRule:
    if not stream.take_if("("):
        return _rule(stream)
    inner = _either(stream)
    stream.take(")")
    if stream.sees("labels"):
        raise _unsupported("labels")
    return inner


def _rule(stream: Stream) -> Rule:
    if not stream.at(WORD):
        raise stream.wrong(f"expected a rule type such as IsComplete, found {stream.next.text}")
    kind = stream.pop().text
    parameters, words = _parameters(stream)
    condition = None if stream.sees("where", "with") else _condition(stream)
    where = None
    if stream.take_if("where"):
        where = _quoted(stream, "the clause after where")
    threshold = None
    if stream.take_if("with"):
        if not stream.sees("threshold"):
            raise _unsupported(f"with {stream.next.text}")
        stream.pop()
        threshold = _condition(stream)
        if threshold is None:
            raise stream.wrong(f"a condition such as > 0.9 is missing, found {stream.next.text}")
    if stream.sees("where"):
        raise stream.wrong("where stands before 'with threshold'")
    if stream.sees("labels"):
        raise _unsupported("labels")
    return Rule(kind, parameters, words, condition, where, threshold)


def _parameters(stream: Stream) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return parameters in their notation: quoted or not, with ``of`` or ``and``."""
    values: list[str] = []
    words: list[str] = []
    while True:
        link = ""
        if stream.sees("of", "OF", "and", "AND") and stream.after_next.kind in (STRING, WORD):
            link = f"{stream.pop().text} "
        if stream.at(STRING):
            text = stream.pop().text
            values.append(unquoted(text))
        elif stream.take_if("$"):
            (constant,) = _constant_of(stream, 1)
            text, value = constant.text, constant
            values.append(value.value if isinstance(value, Text) else value.text)
        elif stream.at(WORD) and not stream.sees(*_AFTER_PARAMETERS):
            text = stream.pop().text
            values.append(text)
        else:
            return tuple(values), tuple(words)
        words.append(f"{link}{text}")


def _condition(stream: Stream) -> RuleCondition | None:
    """Return the condition that comes next, None if it is missing."""
    if stream.sees("=", "!=", ">", ">=", "<", "<="):
        sign = stream.pop().text
        return RuleCondition(sign.removeprefix("!"), _one(stream), sign == "!=")
    negated = stream.take_if("not")
    if stream.take_if("between"):
        low = operand(stream)
        if not stream.take_if("and", "AND"):
            raise stream.wrong(f"expected 'and' of between, found {stream.next.text}")
        return RuleCondition("between", (low, operand(stream)), negated)
    if stream.take_if("in"):
        return RuleCondition("in", _operands(stream), negated)
    if stream.take_if("matches"):
        text = stream.next.text
        pattern = Text(_quoted(stream, "the pattern after matches"), text)
        return RuleCondition("matches", (pattern,), negated)
    if negated:
        raise stream.wrong(f"after not comes between, in or matches, found {stream.next.text}")
    return None


def _one(stream: Stream) -> tuple[Operand, ...]:
    return _constant_of(stream, 1) if stream.take_if("$") else (operand(stream),)


def _operands(stream: Stream) -> tuple[Operand, ...]:
    """Return the operands of a list, or of a constant for one."""
    if stream.take_if("$"):
        return _constant_of(stream, 0)
    stream.take("[")
    operands: list[Operand] = []
    while not operands or not stream.take_if("]"):
        _separate(stream, bool(operands))
        operands.extend(_one(stream))
    return tuple(operands)


def _constant_of(stream: Stream, most: int) -> tuple[Operand, ...]:
    name = stream.next.text
    constant = stream.constants.get(name)
    if constant is None:
        known = ", ".join(stream.constants) or "none"
        raise stream.wrong(f"the constant ${name} is not defined; there are: {known}")
    if most and len(constant) > most:
        raise stream.wrong(f"the constant ${name} is a list, one value is wanted")
    stream.pop()
    return constant


def _quoted(stream: Stream, what: str) -> str:
    if not stream.at(STRING):
        raise stream.wrong(f"{what} is a string in double quotes, found {stream.next.text}")
    return unquoted(stream.pop().text)


def _unsupported(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what!r} in a data quality ruleset does not run locally; leave it out of local runs"
    )

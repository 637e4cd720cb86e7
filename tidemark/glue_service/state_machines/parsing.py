"""Parses definitions and intrinsic functions by moto's grammars, each with a state of its own."""

import json
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from tidemark.glue_service.state_machines.definitions import states_of
from tidemark.glue_service.state_machines.light_moto import part
from tidemark.glue_service.state_machines.values import SCHEMA, Fault

END = -1  # of the tokens
PROGRAMS = 64  # that are kept parsed
UNKNOWN = "the state has a form that the Amazon States Language does not have"

_texts = part("parse.asl_parser")
_language = part("antlr.runtime.ASLParser")
_intrinsics = part("antlr.runtime.ASLIntrinsicParser")
_readers = part("parse.preprocessor")
_parsing = threading.RLock()  # the caches of a grammar are those of all threads


class IntrinsicError(ValueError):
    """There is no such intrinsic function."""


class _Reader(_readers.Preprocessor):  # type: ignore[misc, name-defined] # it is moto's
    """moto's has one list of query languages for all definitions, and keeps escapes of names."""

    def __init__(self) -> None:
        self._query_language_per_scope: list[Any] = []

    @staticmethod
    def _inner_string_of(parser_rule_context: Any) -> str | None:
        return _string_of(parser_rule_context)


def _string_of(parser_rule_context: Any) -> str | None:
    text: str = parser_rule_context.getText()
    value: str | None = json.loads(text) if text == "null" or text.startswith('"') else text
    return value


_readers.from_string_literal = _string_of  # moto's takes escapes for those of Python


@lru_cache(PROGRAMS)
def program_of(definition: str) -> Any:
    """Return the program of a definition.

    Raises:
        ValueError: moto's grammar, or what reads its tree, refuses the definition.
    """
    lexer = part("antlr.runtime.ASLLexer").ASLLexer
    return _read(definition, lexer, _language.ASLParser, "state_machine", _Reader)


def intrinsic_of(text: str) -> tuple[Any, Any]:
    """Return the function of a text such as `States.UUID()`, with its tree, as moto's parser does.

    Raises:
        IntrinsicError: there is no such function, or its arguments are not those that it takes.
    """
    lexer = part("antlr.runtime.ASLIntrinsicLexer").ASLIntrinsicLexer
    reader = part("parse.intrinsic.preprocessor").Preprocessor
    text = json.loads(f'"{text}"')  # it is as in the definition
    try:
        return _read(text, lexer, _intrinsics.ASLIntrinsicParser, "func_decl", reader), None
    except Exception as error:
        raise IntrinsicError(
            f"{text} is not an intrinsic function, or has other arguments"
        ) from error


# moto's prints a function that does not exist, and then fails as an error of Python.
part("parse.intrinsic.intrinsic_parser").IntrinsicParser.parse = staticmethod(intrinsic_of)


def _read(
    text: str,
    new_lexer: Callable[[Any], Any],
    new_parser: Callable[[Any], Any],
    rule: str,
    reader: Callable[[], Any],
) -> Any:
    listener = _texts.SyntaxErrorListener()
    lexer = new_lexer(_texts.InputStream(text))
    parser = new_parser(_texts.CommonTokenStream(lexer))
    for source in (lexer, parser):  # each prints errors otherwise
        source.removeErrorListeners()
        source.addErrorListener(listener)
    with _parsing:
        tree = getattr(parser, rule)()
        if listener.errors or parser.getTokenStream().LA(1) != END:
            raise ValueError("; ".join(listener.errors) or f"{text!r} has more after its end")
        return reader().visit(tree)


def fault_of(machine: dict[str, Any]) -> Fault | None:
    """Return why the interpreter takes no definition, at the innermost state that it refuses."""
    if (why := _refusal(machine)) is None:
        return None
    for name, state in reversed(list(states_of(machine))):
        if text := _refusal({**machine, "StartAt": name, "States": {name: state}}):
            return Fault(SCHEMA, text, f"/States/{name}")
    return Fault(SCHEMA, why)


def _refusal(machine: dict[str, Any]) -> str | None:
    try:
        program_of(json.dumps(machine, ensure_ascii=False))
    except IntrinsicError as error:
        return str(error)
    except Exception:  # noqa: BLE001 (its texts name classes of Python)
        return UNKNOWN
    return None

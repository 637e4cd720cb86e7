"""The content of a DQDL document, as plain data that prints rules like AWS.

Source: https://docs.aws.amazon.com/glue/latest/dg/dqdl.html
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

NULL, EMPTY, WHITESPACES = "NULL", "EMPTY", "WHITESPACES_ONLY"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
KEYWORDS = (NULL, EMPTY, WHITESPACES)
SECONDS = {"days": 86_400, "hours": 3_600, "minutes": 60}


@dataclass(frozen=True)
class Past:
    """The metrics of earlier evaluations: ``last(count)``, in a function or by an index of it."""

    function: str
    count: int
    index: int = 0


@dataclass(frozen=True)
class Number:
    """A number, or an expression of numbers, with its source.

    Attributes:
        value: for a dynamic number its value without earlier metrics.
        text: its source.
        made_of: of a dynamic number: metrics, or a sign with what stands on both sides of it.
    """

    value: float
    text: str
    made_of: "Past | tuple[str, Number, Number] | None" = None


@dataclass(frozen=True)
class Text:
    """A string; its source includes the quotes."""

    value: str
    text: str


@dataclass(frozen=True)
class Keyword:
    """NULL, EMPTY or WHITESPACES_ONLY."""

    text: str


@dataclass(frozen=True)
class Duration:
    """A time such as ``3 days``."""

    amount: int
    unit: str

    @property
    def text(self) -> str:
        """Return it as DQDL."""
        return f"{self.amount} {self.unit}"

    @property
    def hours(self) -> float:
        """Return its length in hours; minutes to four digits."""
        return round(self.amount * SECONDS[self.unit] / 3_600, 4)


@dataclass(frozen=True)
class Now:
    """The time of the evaluation, plus or minus a duration."""

    sign: str = ""
    shift: Duration = Duration(0, "days")

    @property
    def text(self) -> str:
        """Return it as DQDL."""
        return f"(now() {self.sign} {self.shift.text})" if self.sign else "now()"

    def date(self, now: datetime) -> str:
        """Return the day that it means at a time."""
        shift = timedelta(seconds=self.shift.amount * SECONDS[self.shift.unit])
        return str((now - shift if self.sign == "-" else now + shift).date())


Operand = Number | Text | Keyword | Duration | Now


@dataclass(frozen=True)
class RuleCondition:
    """What must hold of a value.

    Attributes:
        operator: ``=``, ``>``, ``>=``, ``<``, ``<=``, ``between``, ``in`` or ``matches``.
        operands: two of ``between``, any number of ``in``, else one.
        negated: ``!=``, or one with ``not``.
    """

    operator: str
    operands: tuple[Operand, ...]
    negated: bool = False

    @property
    def text(self) -> str:
        """Return it as AWS prints it."""
        texts = [operand.text for operand in self.operands]
        word = self.operator
        if word == "=":
            return f"{'!' if self.negated else ''}= {texts[0]}"
        word = f"not {word}" if self.negated else word
        if self.operator == "between":
            return f"{word} {texts[0]} and {texts[1]}"
        return f"{word} [{','.join(texts)}]" if self.operator == "in" else f"{word} {texts[0]}"

    def has(self, kind: type[Operand]) -> bool:
        """Return whether an operand is of a kind."""
        return any(isinstance(operand, kind) for operand in self.operands)

    def names(self, keyword: str) -> bool:
        """Return whether an operand is this keyword."""
        return Keyword(keyword) in self.operands


@dataclass(frozen=True)
class Rule:
    """A rule that does not consist of others.

    Attributes:
        kind: its type, such as ``IsComplete``.
        parameters: without quotes.
        words: the parameters in their notation.
        condition: None for a type that is true or false itself.
        where: which rows it is about, as SQL; None is all.
        threshold: for the share of rows for which the condition holds.
    """

    kind: str
    parameters: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    condition: RuleCondition | None = None
    where: str | None = None
    threshold: RuleCondition | None = None

    @property
    def text(self) -> str:
        """Return it as AWS prints it."""
        parts = [self.kind, *self.words]
        parts += [self.condition.text] if self.condition else []
        parts += [f'where "{self.where}"'] if self.where is not None else []
        parts += [f"with threshold {self.threshold.text}"] if self.threshold else []
        return " ".join(parts)


@dataclass(frozen=True)
class Composite:
    """Rules that are joined by ``AND`` or ``OR``."""

    operator: str
    rules: "tuple[Rule | Composite, ...]"

    @property
    def text(self) -> str:
        """Return it as AWS prints it: every rule in parentheses."""
        return f" {self.operator} ".join(f"({rule.text})" for rule in self.rules)


AnyRule = Rule | Composite


@dataclass(frozen=True)
class Ruleset:
    """The rules of a document, and its analyzers."""

    rules: tuple[AnyRule, ...] = ()
    analyzers: tuple[Rule, ...] = ()


def is_of_dates(condition: RuleCondition) -> bool:
    """Return whether a condition compares with days: strings such as ``2022-06-30``, now()."""
    values = [operand for operand in condition.operands if not isinstance(operand, Keyword)]
    return bool(values) and all(
        isinstance(value, Now) or (isinstance(value, Text) and bool(_DATE.fullmatch(value.value)))
        for value in values
    )


def leaves(rules: tuple[AnyRule, ...]) -> Iterator[Rule]:
    """Yield the parts of composite rules, and the other rules, in order."""
    for rule in rules:
        if isinstance(rule, Composite):
            yield from leaves(rule.rules)
        else:
            yield rule


def numbered(condition: RuleCondition) -> RuleCondition:
    """Return a condition with its quoted numbers as numbers: AWS documents ``= "1.0"``."""
    return replace(condition, operands=tuple(_number(operand) for operand in condition.operands))


def _number(operand: Operand) -> Operand:
    try:
        return Number(float(operand.value), operand.text) if isinstance(operand, Text) else operand
    except ValueError:
        return operand

"""How a value becomes one of another type, in Spark's SQL, and when it cannot without a loss."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from watermarks.spark.columns import escaped

from .names import by_name, is_ambiguous, is_choice, is_same, key_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql.types import DataType, StructType

Sql: TypeAlias = str
_NEVER, _ALWAYS = "false", "true"
# What text has to look like, so that its value says all that it says: no zip code is a number.
_WHOLE = r"^[+-]?(0|[1-9][0-9]*)$"
_PLAIN = r"^[+-]?(0|[1-9][0-9]*)([.][0-9]*)?$"
_NUMBER = r"^[+-]?(0|[1-9][0-9]*)([.][0-9]*)?([eE][+-]?[0-9]+)?$"
_DECIMAL = r"^[+-]?(0|[1-9][0-9]*)([.][0-9]{0,SCALE}0*)?$"
_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_CLOCK = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?"
_ZONE = r" ?(Z|UTC|[+-][0-9]{2}:?[0-9]{2})$"
_ZERO = "^[+-]?[0.]*([eE].*)?$"
_LEAST = {"double": "2.2250738585072014E-308D", "float": "1.17549435E-38D"}  # with all its digits
_GREATEST_FRACTION = "1.7976931348623157E308D"
_EXACT_DIGITS = {"double": 15, "float": 6}  # decimal digits that come back from it
_TOO_LONG = "9.223372036854775807E18D"  # 2^63: a cast takes it for the greatest bigint
_GREATEST = "9223372036854775807L"


@dataclass(frozen=True)
class Fit:
    """A value as another type.

    Attributes:
        value: it, as that type.
        fits: whether nothing is lost by that; true for null.
        extras: the fields inside that the type lacks, by their dotted paths.
        misfits: what of the fields inside does not fit, where these became null by themselves.
    """

    value: Sql
    fits: Sql = _ALWAYS
    extras: Sequence[tuple[str, Sql]] = ()
    misfits: Sequence[tuple[str, Sql]] = ()

    @property
    def is_certain(self) -> bool:
        """Whether every value fits, whatever it is."""
        return self.fits == _ALWAYS


@dataclass(frozen=True)
class Fitting:
    """How values become values of a schema's types.

    Attributes:
        is_case_sensitive: whether names in different cases are different fields.
        is_by_field: whether a field in a struct that does not fit becomes null by itself, and the
            others stay.
    """

    is_case_sensitive: bool = False
    is_by_field: bool = False

    def fit(self, value: Sql, old: DataType, new: DataType, path: str = "") -> Fit:
        """Return a value of one type as another one; `path` names it."""
        from pyspark.sql.types import ArrayType, MapType, NullType, StructType

        if is_same(old, new):
            return Fit(value)
        match old, new:
            case StructType(), _ if is_choice(old, new):
                return self._choice(value, old, new, path)
            case NullType(), _:
                return Fit(cast(value, new))
            case StructType(), StructType() if not any(
                is_ambiguous(kind, self.is_case_sensitive) for kind in (old, new)
            ):
                return self._struct(value, old, new, path)
            case ArrayType(), ArrayType():
                item = _variable(value)
                inner = self._inside.fit(item, old.elementType, new.elementType)
                items = f"transform({value}, {item} -> {inner.value})"
                told = json_of(value, old)
                return _of_items(told, items, value, item, inner, path)
            case MapType(), MapType() if is_same(old.keyType, new.keyType):
                item = _variable(value)
                inner = self._inside.fit(item, old.valueType, new.valueType)
                items = f"transform_values({value}, ({item}k, {item}) -> {inner.value})"
                told = json_of(value, old)
                return _of_items(told, items, f"map_values({value})", item, inner, path)
        return _atom(value, old, new)

    @property
    def _inside(self) -> Fitting:
        """How what is in arrays and maps is fitted: as a whole."""
        return replace(self, is_by_field=False)

    def _choice(self, value: Sql, old: StructType, new: DataType, path: str) -> Fit:
        """Return a choice of a DynamicFrame: at most one of its fields has a value."""
        fits = [
            self.fit(f"{value}.{escaped(field.name)}", field.dataType, new, path)
            for field in old.fields
        ]
        return Fit(
            f"coalesce({', '.join(fit.value for fit in fits)})",
            _all([_is_one(value, old), *(fit.fits for fit in fits)]),
            [extra for fit in fits for extra in fit.extras],
            [misfit for fit in fits for misfit in fit.misfits],
        )

    def _struct(self, value: Sql, old: StructType, new: StructType, path: str) -> Fit:
        there = {key_of(field.name, self.is_case_sensitive): field for field in old.fields}
        fields, fits = list[Sql](), list[Sql]()
        extras, misfits = list[tuple[str, Sql]](), list[tuple[str, Sql]]()
        for field in new.fields:
            own = there.get(key_of(field.name, self.is_case_sensitive))
            made = Fit(null_of(field.dataType))
            if own is not None:
                inside, below = f"{value}.{escaped(own.name)}", f"{path}.{own.name}"
                made = self.fit(inside, own.dataType, field.dataType, below)
                if self.is_by_field and not made.is_certain:
                    misfits += [
                        (below, f"IF({made.fits}, NULL, {told})")
                        for told in told_by_type(inside, own.dataType)
                    ]
                    made = replace(made, value=f"IF({made.fits}, {made.value}, NULL)", fits=_ALWAYS)
            fields.append(f"{quoted(field.name)}, {made.value}")
            fits.append(made.fits)
            extras += made.extras
            misfits += made.misfits
        wanted = by_name(new, self.is_case_sensitive)
        for field in old.fields:
            if key_of(field.name, self.is_case_sensitive) not in wanted:
                told = told_by_type(f"{value}.{escaped(field.name)}", field.dataType)
                extras += [(f"{path}.{field.name}", each) for each in told]
        made_of = f"named_struct({', '.join(fields)})"
        return Fit(f"IF({value} IS NULL, NULL, {made_of})", _all(fits), extras, misfits)


def _of_items(told: Sql, made: Sql, items: Sql, item: Sql, inner: Fit, path: str) -> Fit:
    """Return an array or a map: what its items have more than they may, is in the whole of it."""
    extras = list[tuple[str, Sql]]()
    if inner.extras:
        there = " OR ".join(f"({extra}) IS NOT NULL" for _, extra in inner.extras)
        extras.append((path, f"IF(exists({items}, {item} -> {there}), {told}, NULL)"))
    if inner.is_certain:
        return Fit(made, extras=extras)
    return Fit(made, f"({items} IS NULL OR forall({items}, {item} -> {inner.fits}))", extras)


def told_by_type(value: Sql, kind: DataType) -> list[Sql]:
    """Return a value as it stands in JSON: one expression, and for a choice one for each type.

    At most one of them is not null. A choice with several values stands whole.
    """
    if not is_choice(kind):
        return [json_of(value, kind)]
    whole = f"IF({_is_one(value, kind)}, NULL, {value})"
    parts = [json_of(f"{value}.{escaped(field.name)}", field.dataType) for field in kind.fields]
    return [whole, *parts]


def _is_one(value: Sql, kind: StructType) -> Sql:
    """Return whether a choice has one value: a struct that only looks like one may have more."""
    there = (f"{value}.{escaped(field.name)} IS NOT NULL" for field in kind.fields)
    return f"(size(filter(array({', '.join(there)}), item -> item)) <= 1)"


def named(name: Sql, told: Sequence[Sql]) -> list[Sql]:
    """Return fields of one name for `named_struct`: only the first value is not null."""
    are_null = [f"({each}) IS NULL" for each in told]
    return [
        f"{name}, " + (f"IF({' AND '.join(are_null[:at])}, {each}, NULL)" if at else each)
        for at, each in enumerate(told)
    ]


def json_of(value: Sql, kind: DataType, *, is_written: bool = False) -> Sql:
    """Return a value as JSON tells it: a map as its entries, if its keys are no text of their own.

    Spark writes a date that is a key as its days, and bytes as the address of an object. Files that
    it writes (`is_written`) have no field twice: choices in structs stay structs of their types.
    """
    from pyspark.sql import types

    tell = partial(json_of, is_written=is_written)

    item, texts = _variable(value), (types.StringType, types.NumericType, types.BooleanType)
    match kind:
        case types.MapType() if not isinstance(kind.keyType, texts):
            entry = types.StructType().add("key", kind.keyType).add("value", kind.valueType)
            return tell(f"map_entries({value})", types.ArrayType(entry))
        case types.MapType():
            made = f"transform_values({value}, ({item}k, {item})"
            inner = tell(item, kind.valueType)
        case types.ArrayType():
            inner, made = tell(item, kind.elementType), f"transform({value}, {item}"
        case types.StructType() if not is_ambiguous(kind, False):
            fields = [f"{value}.{escaped(f.name)}" for f in kind.fields]
            inside = [
                [tell(field, f.dataType)] if is_written else told_by_type(field, f.dataType)
                for field, f in zip(fields, kind.fields, strict=True)
            ]
            if inside == [[field] for field in fields]:
                return value
            told = zip(kind.names, inside, strict=True)
            parts = (part for name, values in told for part in named(quoted(name), values))
            return f"IF({value} IS NULL, NULL, named_struct({', '.join(parts)}))"
        case _:
            return value
    return value if inner == item else f"{made} -> {inner})"


def _atom(value: Sql, old: DataType, new: DataType) -> Fit:
    from pyspark.sql import types

    casted = cast(value, new)
    is_kept = f"({cast(casted, old)} <=> {value})"
    match old, new:
        case types.StringType(), _:
            return _text(value, new)
        case types.NumericType(), types.NumericType():
            if _holds(new, old):
                return Fit(casted)
            if isinstance(old, types.FractionalType) and isinstance(new, types.LongType):
                is_kept = f"({is_kept} AND NOT coalesce({value} >= {_TOO_LONG}, false))"
            if isinstance(old, types.LongType):  # the cast back takes 2^63 for the greatest bigint
                is_kept = f"({is_kept} AND NOT coalesce({value} = {_GREATEST}, false))"
            return Fit(casted, is_kept)
        case (types.NumericType() | types.BooleanType() | types.DateType(), types.StringType()):
            return Fit(casted)
        case (
            (types.DateType() | types.TimestampType() | types.TimestampNTZType()),
            (types.DateType() | types.TimestampType() | types.TimestampNTZType()),
        ):
            return Fit(casted, is_kept)
    return Fit(null_of(new), f"({value} IS NULL)")


def _text(value: Sql, new: DataType) -> Fit:
    """Return text as another type: it fits if the value says all that the text says."""
    from pyspark.sql import types

    text = f"trim({value})"
    casted = cast(text, new)
    # To look at text by a pattern is slow: most values are written as Spark writes them.
    is_usual = f"string({casted}) = {text}"
    match new:
        case types.IntegralType():
            looks = f"({is_usual} OR {text} RLIKE {quoted(_WHOLE)})"
        case types.DecimalType():
            pattern = quoted(_DECIMAL.replace("SCALE", str(new.scale)))
            looks = f"(({is_usual} AND NOT contains({text}, 'E')) OR {text} RLIKE {pattern})"
        case types.DoubleType() | types.FloatType():
            looks = _is_kept_by_fraction(text, casted, new.simpleString())
        case types.BooleanType():
            looks = f"lower({text}) IN ('true', 'false')"
        case types.DateType():
            looks = f"({is_usual} OR {text} RLIKE {quoted(_DAY)})"
        case types.TimestampType() | types.TimestampNTZType():
            looks = _is_kept_by_time(text, casted, isinstance(new, types.TimestampNTZType))
        case types.BinaryType():
            return Fit(f"CAST({value} AS BINARY)")
        case _:
            looks = _NEVER
            casted = null_of(new)
    return Fit(casted, f"({value} IS NULL OR ({looks} AND {casted} IS NOT NULL))")


def _is_kept_by_fraction(text: Sql, casted: Sql, kind: str) -> Sql:
    digits, back = (
        f"trim(BOTH '0' FROM regexp_replace({side}, '[eE].*|[^0-9]', ''))"
        for side in (text, f"string({casted})")
    )
    few = f"length({digits}) <= {_EXACT_DIGITS[kind]}"
    is_exact = f"coalesce(string({casted}) = {text} OR {few} OR {digits} = {back}, false)"
    has_all_digits = f"abs({casted}) BETWEEN {_LEAST[kind]} AND {_GREATEST_FRACTION}"
    in_range = f"({text} RLIKE {quoted(_ZERO)} OR {has_all_digits})"
    is_short = f"(length({text}) <= {_EXACT_DIGITS[kind]} AND {text} RLIKE {quoted(_PLAIN)})"
    # Spark works out at once what an OR names twice, such as the digits, for each row.
    is_long = f"({text} RLIKE {quoted(_NUMBER)} AND {is_exact} AND {in_range})"
    return f"IF({is_short}, true, {is_long})"


def _is_kept_by_time(text: Sql, casted: Sql, has_no_zone: bool) -> Sql:
    is_clock = f"{text} RLIKE {quoted(_CLOCK + '$')}"
    if has_no_zone:
        return is_clock
    # In the session's zone no clock shows what summer time leaves out.
    is_kept = f"try_cast({casted} AS TIMESTAMP_NTZ) <=> try_cast({text} AS TIMESTAMP_NTZ)"
    return f"({text} RLIKE {quoted(_CLOCK + _ZONE)} OR ({is_clock} AND {is_kept}))"


def _holds(wide: DataType, narrow: DataType) -> bool:
    """Return whether a number type has every value of another one."""
    from watermarks.spark.schemas import wider

    return wider(narrow, wide) == wide


def null_of(kind: DataType) -> Sql:
    """Return null as a type."""
    return f"CAST(NULL AS {sql_type(kind)})"


def cast(value: Sql, kind: DataType) -> Sql:
    """Return a value cast to a type; null where that cannot be."""
    return f"try_cast({value} AS {sql_type(kind)})"


def sql_type(kind: DataType) -> Sql:
    """Return a type as SQL takes it, whatever the names of its fields."""
    from pyspark.sql.types import ArrayType, MapType, StructType, TimestampType

    match kind:
        case TimestampType():  # whatever the session takes TIMESTAMP for
            return "TIMESTAMP_LTZ"
        case StructType():
            fields = (f"{escaped(field.name)}: {sql_type(field.dataType)}" for field in kind.fields)
            return f"STRUCT<{', '.join(fields)}>"
        case ArrayType():
            return f"ARRAY<{sql_type(kind.elementType)}>"
        case MapType():
            return f"MAP<{sql_type(kind.keyType)}, {sql_type(kind.valueType)}>"
    return kind.simpleString()


def quoted(text: str) -> Sql:
    """Return text as a literal of SQL."""
    escaped_text = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped_text}'"


def _all(conditions: Sequence[Sql]) -> Sql:
    uncertain = [condition for condition in conditions if condition != _ALWAYS]
    return f"({' AND '.join(uncertain)})" if uncertain else _ALWAYS


def _variable(value: Sql) -> Sql:
    """Return a name for an item of a value that no lambda around it has."""
    depth = 0
    while f"item{depth}" in value:
        depth += 1
    return f"item{depth}"

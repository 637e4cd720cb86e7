"""Glue's own types, used by `DynamicFrame.schema`, and the record that functions receive.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-types.html
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from tidemark.errors import UnsupportedError

# Names of Python 2 that AWS's library keeps for scripts.
basestring, unicode = str, str
Properties = Mapping[str, Any] | None
Json = Mapping[str, Any]


class DataType:
    """A type; two are equal if they are of one class and have the same parts."""

    def __init__(self, properties: Properties = None) -> None:
        self.properties: Mapping[str, Any] = {} if properties is None else properties

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(str(self.__class__))

    @classmethod
    def typeName(cls) -> str:
        """Return Glue's name of the type."""
        return cls.__name__.removesuffix("Type").lower()

    def jsonValue(self) -> dict[str, Any]:
        """Return the type as JSON."""
        return {"dataType": self.typeName(), "properties": self.properties}


class AtomicType(DataType):
    """A type without parts."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.properties})"

    @classmethod
    def fromJsonValue(cls, json_value: Json) -> Self:
        """Return the type that `jsonValue` wrote."""
        return cls(**{name: value for name, value in json_value.items() if name != "dataType"})


class BinaryType(AtomicType):
    """Bytes."""


class BooleanType(AtomicType):
    """True or false."""


class ByteType(AtomicType):
    """An integer of 8 bits."""


class DateType(AtomicType):
    """A day."""


class DecimalType(AtomicType):
    """A decimal number."""

    def __init__(self, precision: int = 10, scale: int = 2, properties: Properties = None) -> None:
        super().__init__(properties)
        self.precision, self.scale = precision, scale

    def __repr__(self) -> str:
        return f"DecimalType({self.precision}, {self.scale}, {self.properties})"

    def jsonValue(self) -> dict[str, Any]:
        """Return the type as JSON."""
        return {**super().jsonValue(), "precision": self.precision, "scale": self.scale}


class DoubleType(AtomicType):
    """A floating-point number of 64 bits."""


class EnumType(AtomicType):
    """One of several strings."""

    def __init__(self, options: Iterable[str], properties: Properties = None) -> None:
        super().__init__(properties)
        self.options = options

    def __repr__(self) -> str:
        options = list(self.options)
        shown = ",".join(options[:3]) + (",..." if options[3:] else "")
        return f"EnumType([{shown}], {self.properties})"

    def jsonValue(self) -> dict[str, Any]:
        """Return the type as JSON."""
        return {**super().jsonValue(), "options": list(self.options)}


class FloatType(AtomicType):
    """A floating-point number of 32 bits."""


class IntegerType(AtomicType):
    """An integer of 32 bits."""

    @classmethod
    def typeName(cls) -> str:
        """Return Glue's name of the type."""
        return "int"


class LongType(AtomicType):
    """An integer of 64 bits."""


class NullType(AtomicType):
    """The type of a field that has no value in any record."""


class ShortType(AtomicType):
    """An integer of 16 bits."""


class StringType(AtomicType):
    """Text."""


class TimestampType(AtomicType):
    """A point in time."""


class TimestampNTZType(AtomicType):
    """A date and a time of day without a time zone."""


class UnknownType(AtomicType):
    """An unknown type."""


class _OfElements(DataType):
    def __init__(self, elementType: DataType | None = None, properties: Properties = None) -> None:
        super().__init__(properties)
        self.elementType = _checked(UnknownType() if elementType is None else elementType)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.elementType}, {self.properties})"

    def jsonValue(self) -> dict[str, Any]:
        return {**super().jsonValue(), "elementType": self.elementType.jsonValue()}

    @classmethod
    def fromJsonValue(cls, json_value: Json) -> Self:
        element = _deserialize_json_value(json_value["elementType"])
        return cls(element, json_value.get("properties", {}))


class ArrayType(_OfElements):
    """A list of values of one type."""


class SetType(_OfElements):
    """A set of values of one type."""


class ChoiceType(DataType):
    """One of several types in each record; ``choices`` holds them by name."""

    def __init__(self, choices: Iterable[DataType] = (), properties: Properties = None) -> None:
        super().__init__(properties)
        self.choices: dict[str, DataType] = {}
        for choice in choices:
            self.add(choice)

    def __repr__(self) -> str:
        shown = ",".join(str(self.choices[name]) for name in sorted(self.choices))
        return f"ChoiceType([{shown}], {self.properties})"

    def add(self, new_choice: DataType) -> None:
        """Add a type.

        Raises:
            ValueError: it already has a type of this name.
        """
        if new_choice.typeName() in self.choices:
            raise ValueError("Attempting to insert duplicate choice", new_choice)
        self.choices[new_choice.typeName()] = new_choice

    def merge(self, new_choices: DataType | list[DataType]) -> None:
        """Add types, or merge them with those of the same name."""
        for choice in new_choices if isinstance(new_choices, list) else [new_choices]:
            known = self.choices.get(choice.typeName(), UnknownType())
            self.choices[choice.typeName()] = mergeDataTypes(known, choice)

    def jsonValue(self) -> dict[str, Any]:
        """Return the type as JSON."""
        choices = [choice.jsonValue() for choice in self.choices.values()]
        return {**super().jsonValue(), "choices": choices}

    @classmethod
    def fromJsonValue(cls, json_value: Json) -> Self:
        """Return the type that `jsonValue` wrote."""
        choices = [_deserialize_json_value(choice) for choice in json_value["choices"]]
        return cls(choices, json_value.get("properties", {}))


class MapType(DataType):
    """Values of one type, with strings as keys."""

    def __init__(self, valueType: DataType | None = None, properties: Properties = None) -> None:
        super().__init__(properties)
        self.valueType = _checked(UnknownType() if valueType is None else valueType)

    def __repr__(self) -> str:
        return f"MapType({self.valueType}, {self.properties})"

    def jsonValue(self) -> dict[str, Any]:
        """Return the type as JSON."""
        return {**super().jsonValue(), "valueType": self.valueType.jsonValue()}

    @classmethod
    def fromJsonValue(cls, json_value: Json) -> Self:
        """Return the type that `jsonValue` wrote."""
        value = _deserialize_json_value(json_value["valueType"])
        return cls(value, json_value.get("properties", {}))


class Field:
    """A field of a struct."""

    def __init__(self, name: str, dataType: DataType, properties: Properties = None) -> None:
        self.name, self.dataType = name, _checked(dataType)
        self.properties: Mapping[str, Any] = {} if properties is None else properties

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Field):
            return False
        return (self.name, self.dataType) == (other.name, other.dataType)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Field({self.name}, {self.dataType}, {self.properties})"

    def jsonValue(self) -> dict[str, Any]:
        """Return the field as JSON."""
        container = self.dataType.jsonValue()
        return {"name": self.name, "container": container, "properties": self.properties}

    @classmethod
    def fromJsonValue(cls, json_value: Json) -> Self:
        """Return the field that `jsonValue` wrote."""
        kind = _deserialize_json_value(json_value["container"])
        return cls(json_value["name"], kind, json_value.get("properties", {}))


class StructType(DataType):
    """Fields, in order; ``field_map`` holds them by name."""

    def __init__(self, fields: list[Field] | None = None, properties: Properties = None) -> None:
        super().__init__(properties)
        self.fields = [] if fields is None else fields
        if not all(isinstance(field, Field) for field in self.fields):
            raise AssertionError("fields should be a list of Field")
        self.field_map = {field.name: field for field in self.fields}

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __repr__(self) -> str:
        return f"StructType([{','.join(map(str, self.fields))}], {self.properties})"

    def add(self, field: Field) -> None:
        """Add a field at the end."""
        self.fields.append(field)
        self.field_map[field.name] = field

    def hasField(self, field: Field | str) -> bool:
        """Return whether a field of this name exists."""
        return _name(field) in self.field_map

    def getField(self, field: Field | str) -> Field:
        """Return the field of this name.

        Raises:
            KeyError: there is no such field.
        """
        return self.field_map[_name(field)]

    def jsonValue(self) -> dict[str, Any]:
        """Return the type as JSON."""
        return {**super().jsonValue(), "fields": [field.jsonValue() for field in self.fields]}

    @classmethod
    def fromJsonValue(cls, json_value: Json) -> Self:
        """Return the type that `jsonValue` wrote."""
        fields = [Field.fromJsonValue(field) for field in json_value["fields"]]
        return cls(fields, json_value.get("properties", {}))


class EntityType(DataType):
    """AWS has the name only: its constructor is an error there too."""

    def __init__(self, entity: Any, base_type: Any, properties: Any) -> None:
        raise UnsupportedError("EntityType can be created neither here nor on AWS")


def mergeDataTypes(s1: DataType, s2: DataType) -> DataType:
    """Return the type of values of both types: structs by field, else a choice."""
    if isinstance(s1, UnknownType | NullType):
        return s2
    if isinstance(s2, UnknownType | NullType):
        return s1
    if isinstance(s1, ChoiceType) or type(s1) is not type(s2):
        merged = ChoiceType(_choices(s1), s1.properties)
        merged.merge(_choices(s2))
        return merged
    return _merged(s1, s2)


def _merged(s1: DataType, s2: DataType) -> DataType:
    match s1, s2:
        case StructType(), StructType():
            return _merged_structs(s1, s2)
        case ArrayType(), ArrayType():
            return ArrayType(mergeDataTypes(s1.elementType, s2.elementType))
        case MapType(), MapType():
            return MapType(mergeDataTypes(s1.valueType, s2.valueType))
        case EnumType(), EnumType():
            return EnumType([*s1.options, *s2.options])
    return s1


def _merged_structs(s1: StructType, s2: StructType) -> StructType:
    kinds = {field.name: field.dataType for field in s1}
    for field in s2:
        kinds[field.name] = mergeDataTypes(kinds.get(field.name, UnknownType()), field.dataType)
    properties = {field.name: field.properties for field in [*s2, *s1]}
    fields = [Field(name, kind, properties[name]) for name, kind in kinds.items()]
    return StructType(fields, s1.properties)


def _choices(kind: DataType) -> list[DataType]:
    return list(kind.choices.values()) if isinstance(kind, ChoiceType) else [kind]


def _name(field: Field | str) -> str:
    return field.name if isinstance(field, Field) else field


def _checked(kind: DataType) -> DataType:
    if not isinstance(kind, DataType):
        raise AssertionError(f"dataType should be DataType. Got {type(kind)}")
    return kind


_KINDS: list[Any] = [*AtomicType.__subclasses__(), *_OfElements.__subclasses__()]
_TYPES: dict[str, Any] = {
    kind.typeName(): kind for kind in (*_KINDS, ChoiceType, MapType, StructType)
}


def _deserialize_json_value(json_val: Json) -> DataType:
    kind: DataType = _TYPES[json_val["dataType"]].fromJsonValue(json_val)
    return kind


class DynamicRecord(dict[str, Any]):
    """The argument of functions in `DynamicFrame.filter` and `map`: a dict with attributes."""

    def __getattr__(self, attr: str) -> Any:
        if attr.startswith("__"):  # copy and pickle ask for these
            raise AttributeError(attr)
        return self[attr]

    def __setattr__(self, attr: str, value: Any) -> None:
        self[attr] = value

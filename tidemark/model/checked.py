"""Refuses calls of constructs with wrong argument names or types.

Python accepts a string as a list of letters and any value as a boolean, and Glue and IAM would
deploy it. The annotations define what is allowed; no construct checks it again.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from enum import Enum
from functools import lru_cache, wraps
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    Any,
    Literal,
    TypeVar,
    Union,
    Unpack,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from tidemark.errors import JobDefinitionError

TYPES_OURS = "tidemark.constructs."  # types of the model check themselves
WORDS = {str: "a string", bool: "True, False", int: "an integer", float: "a number"}
WORDS |= {NoneType: "None", Any: "anything"}
# Examples of interfaces that no one calls directly.
EXAMPLES = {
    "Folder": "a Dataset",
    "HasOutput": "a job",
    "IBucket": "a bucket, such as s3.Bucket.from_bucket_name(...)",
    "IConnection": "a Connection",
    "IDatabase": "a Database",
    "IGrantable": "a role, a function, a user or a group",
    "IKey": "a KMS key, such as kms.Key.from_key_arn(...)",
    "IQueue": "a queue, such as sqs.Queue.from_queue_arn(...)",
    "IRole": "an iam.Role, such as iam.Role.from_role_arn(...)",
    "ISecret": "a Secret",
    "ISecurityConfiguration": "a SecurityConfiguration",
    "IStream": "a Stream of Kinesis",
    "ITable": "a table of DynamoDB, such as dynamodb.Table.from_table_name(...)",
    "ITopic": "a topic, such as sns.Topic.from_topic_arn(...)",
}
# How the CDK writes what only a deployment knows: in strings and keys, in lists, as numbers.
TOKEN, LIST_TOKEN, NUMBER_TOKENS = "${Token[", "#{Token[", -1e280
_CHECKED = "_is_checked"
Called = TypeVar("Called", bound=Callable[..., Any])


class WrongArgumentError(JobDefinitionError, TypeError):
    """A call has an unknown argument, or lacks a required one."""


def checked(called: Called) -> Called:
    """Return a method or a class that refuses unknown arguments, and arguments of another type.

    A class is the same one with a checked constructor, whichever module it is imported from, and
    whichever dataclass is made of it.
    The properties of a TypedDict that a method takes by `**props: Unpack[...]` count as
    parameters; properties that a call omits are None, False or empty.

    Example:
        `pipeline.add_job("orders", reeds=[raw])` raises "add_job has no argument 'reeds'; did you
        mean 'reads'? ...".
    """
    if not isinstance(called, type):
        return cast(Called, _checked_method(called))
    # jsii's classes refuse to be changed in the usual way.
    type.__setattr__(called, "__init__", _checked_method(vars(called)["__init__"]))
    if is_dataclass(called):
        _check_subclasses(called)
    return called


def _check_subclasses(base: type[Any]) -> None:
    """Let instances of subclasses that are dataclasses pass the checks of their base as well."""
    names = [field.name for field in fields(base) if field.init]

    def begin(subclass: type[Any], /, **keywords: Any) -> None:
        super(base, subclass).__init_subclass__(**keywords)
        own = getattr(subclass, "__post_init__", lambda self: None)

        def check(self: Any) -> None:
            own(self)
            base(**{name: getattr(self, name) for name in names})

        subclass.__post_init__ = check

    type.__setattr__(base, "__init_subclass__", classmethod(begin))


def _checked_method(method: Callable[..., Any]) -> Callable[..., Any]:
    signature, has_props = _signature(method)
    checks_types = method.__module__.startswith(TYPES_OURS)

    @wraps(method)
    def call(*given: Any, **keywords: Any) -> Any:
        try:
            bound = signature.bind(*given, **keywords)
        except TypeError as error:
            raise WrongArgumentError(_message(method, given, signature, keywords, error)) from None
        (_, owner), *values = bound.arguments.items()
        called = _name(method, owner).removeprefix("add_").replace("_", " ")
        of = f"{called} {bound.arguments['name']!r}" if "name" in bound.arguments else called
        for name, value in values:
            _check_known(of, name, value)
            if checks_types:
                _check_type(of, signature.parameters[name], value)
        if has_props:
            bound.apply_defaults()
            return method(*bound.args, **bound.kwargs)
        return method(*given, **keywords)

    call.__dict__.update({_CHECKED: True, "__signature__": signature})
    return call


def _signature(method: Callable[..., Any]) -> tuple[inspect.Signature, bool]:
    """Return a signature with resolved annotations, and whether it includes properties."""
    annotations = {name: hint for name, hint in method.__annotations__.items() if name != "return"}
    # What a method returns need not be imported before it is called.
    hints = get_type_hints(SimpleNamespace(__annotations__=annotations), method.__globals__)
    parameters = []
    props: list[inspect.Parameter] = []
    for parameter in inspect.signature(method).parameters.values():
        hint = hints.get(parameter.name, Any)
        if get_origin(hint) is Unpack:
            props = _properties(get_args(hint)[0])
        else:
            parameters.append(parameter.replace(annotation=hint))
    return inspect.Signature([*parameters, *props]), bool(props)


def _properties(props: Any) -> list[inspect.Parameter]:
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hint,
            default=inspect.Parameter.empty if name in props.__required_keys__ else _empty(hint),
        )
        for name, hint in get_type_hints(props).items()
    ]


def _empty(hint: Any) -> object:
    """Return the value of an omitted property."""
    return None if accepts(None, hint) else False if accepts(False, hint) else ()


def _message(
    method: Callable[..., Any],
    given: tuple[Any, ...],
    signature: inspect.Signature,
    keywords: dict[str, Any],
    problem: TypeError,
) -> str:
    called = _name(method, given[0])
    known = [name for name in signature.parameters if name != "self"]
    allowed = ", ".join(known) or "none"
    unknown = [name for name in keywords if name not in known]
    if not unknown:
        return f"{called}: {problem}; allowed: {allowed}; correct the call"
    near = get_close_matches(unknown[0], known, n=1)
    meant = f"did you mean {near[0]!r}? " if near else ""
    return f"{called} has no argument {unknown[0]!r}; {meant}allowed: {allowed}; correct the call"


def _name(method: Callable[..., Any], owner: object) -> str:
    return type(owner).__name__ if method.__name__ == "__init__" else method.__name__


def _check_known(of: str, name: str, value: object) -> None:
    """Raise for a token of the CDK in a form that no argument takes."""
    late = _late_part(value)
    if late:
        raise JobDefinitionError(
            f"{of} has {name} with {late} that only the deployment knows, a token; allowed: a "
            f"value that stands in the code; correct {name}="
        )


def _late_part(value: object) -> str | None:
    """Return which part of a value is a token: a number, a list or the key of a dict.

    >>> _late_part(["#{Token[TOKEN.7]}"]), _late_part({"${Token[TOKEN.7]}": "x"})
    ('a list', 'a key')
    """
    if isinstance(value, float) and value <= NUMBER_TOKENS:
        return "a number"
    if not isinstance(value, list | tuple | Mapping):
        return None
    is_dict = isinstance(value, Mapping)
    sign = TOKEN if is_dict else LIST_TOKEN
    has_token = any(isinstance(part, str) and sign in part for part in value)
    return ("a key" if is_dict else "a list") if has_token else None


def wrong(of: str, key: str, value: object, allowed: str, remedy: str = "") -> JobDefinitionError:
    """Return the error for a value that a declaration cannot have; every one has this form."""
    return JobDefinitionError(
        f"{of} has {key} {value!r}; allowed: {allowed}; {remedy or f'correct {key}='}"
    )


def _check_type(of: str, parameter: inspect.Parameter, value: object) -> None:
    name, hint = parameter.name, parameter.annotation
    if parameter.kind is not inspect.Parameter.VAR_POSITIONAL and not accepts(value, hint):
        raise JobDefinitionError(
            f"{of} has {name} {_shown(value, hint)}; allowed: {allowed_by(hint)}; correct {name}="
        )


def accepts(value: Any, hint: Any) -> bool:
    """Return whether a value matches an annotation.

    >>> accepts("ab", Sequence[str]), accepts(["a", "b"], Sequence[str]), accepts(True, int)
    (False, True, False)
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(accepts(value, allowed) for allowed in inner)
    if origin is Literal:
        return any(value == allowed and type(value) is type(allowed) for allowed in inner)
    if origin is Mapping:
        return isinstance(value, Mapping) and not _items_refused(value, hint)
    if origin in (Sequence, tuple):
        kinds = (list, tuple) if origin is Sequence else tuple
        return isinstance(value, kinds) and all(accepts(item, inner[0]) for item in value)
    return _is_a(value, origin or hint)


def _is_a(value: Any, hint: Any) -> bool:
    if hint in (int, float):
        # The CDK would pass a member of an IntEnum on as an object.
        return isinstance(value, int | hint) and not isinstance(value, bool | Enum)
    if getattr(hint, "_is_protocol", False):
        return _has_members(value, hint)
    return hint in (Any, object) or isinstance(value, dict if is_typeddict(hint) else hint)


def allowed_by(hint: Any) -> str:
    """Return in words what an annotation allows.

    >>> allowed_by(Mapping[str, str | int] | None)
    'a dict of a string to a string or an integer, or None'
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        *first, last = map(allowed_by, inner)
        return f"{', '.join(first)}{',' if last == 'None' or len(first) > 1 else ''} or {last}"
    if origin is Literal:
        return ", ".join(map(repr, inner))
    if origin in (Sequence, tuple):
        return f"a {'list' if origin is Sequence else 'tuple'}, each {allowed_by(inner[0])}"
    if origin is Mapping:
        return f"a dict of {allowed_by(inner[0])} to {allowed_by(inner[1])}"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return ", ".join(f"{hint.__name__}.{member.name}" for member in hint)
    name = getattr(hint, "__name__", str(hint))
    return WORDS.get(hint) or EXAMPLES.get(name) or f"{'an' if name[0] in 'AEIO' else 'a'} {name}"


def _items_refused(value: Mapping[Any, Any], hint: Any) -> list[Any]:
    of_key, of_value = get_args(hint)
    return [
        key for key, item in value.items() if not (accepts(key, of_key) and accepts(item, of_value))
    ]


def _shown(value: object, hint: Any) -> str:
    """Return a value of the wrong type; for a dict the keys only, since a value may be a secret."""
    for member in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        if get_origin(member) is Mapping and isinstance(value, Mapping):
            wrong = {key: type(value[key]).__name__ for key in _items_refused(value, member)}
            return f"with {', '.join(f'{key!r}: {kind}' for key, kind in wrong.items())}"
    return repr(value)


def _has_members(value: object, protocol: Any) -> bool:
    """Return whether a value has the names of a Protocol, without reading them, which may fail."""
    if isinstance(value, type):  # it has the names, but no values
        return False
    parts = getattr(value, "__dict__", {}).get("_delegates", [value])  # of an interface of the CDK
    return _classes_have(tuple(map(type, parts)), protocol) or all(
        inspect.getattr_static(value, name, _CHECKED) is not _CHECKED for name in _members(protocol)
    )


@lru_cache
def _classes_have(kinds: tuple[type, ...], protocol: Any) -> bool:
    return all(any(hasattr(kind, name) for kind in kinds) for name in _members(protocol))


@lru_cache
def _members(protocol: Any) -> frozenset[str]:
    """Return the public members of a Protocol: the interfaces of the CDK are such."""
    bases = [base for base in protocol.__mro__ if getattr(base, "_is_protocol", False)]
    return frozenset(name for base in bases for name in vars(base) if not name.startswith("_"))

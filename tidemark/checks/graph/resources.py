"""The resources of synthesized templates, with the names that they give and use."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.checks.graph.model import Located
from tidemark.model.assembly.resources import METADATA, Templates, resources_of
from tidemark.model.assembly.symbolic_names import SymbolicNames


@dataclass(frozen=True)
class Resource(Located):
    """A resource of a template; it stands at ``<stack>/<logical id>``."""

    at: str
    stack: str
    id_: str
    body: Mapping[str, Any]
    names: SymbolicNames

    @property
    def properties(self) -> Mapping[str, Any]:
        """Its properties."""
        properties: Mapping[str, Any] = self.body.get("Properties", {})
        return properties

    @property
    def known(self) -> Mapping[str, Any]:
        """What the construct of a job or crawler says about it, beside its properties."""
        known: Mapping[str, Any] = self.body.get("Metadata", {}).get(METADATA, {})
        return known

    @property
    def name(self) -> str:
        """Its name; if only a deployment knows it, a string that is equal for equal names."""
        return self.names.own(self.stack, self.id_)

    def text(self, value: object) -> str:
        """Return a value of its template as a string, in which names are as in `name`."""
        return self.names.text(self.stack, value)


class Resources:
    """The resources of templates that are deployed together."""

    def __init__(self, templates: Templates) -> None:
        """Take the templates, by the names of their stacks."""
        self.templates = templates
        self._names = SymbolicNames(templates)

    def of(self, *kinds: str) -> Iterator[Resource]:
        """Yield the resources of some types, type by type, in the order of the templates."""
        for kind in kinds:
            for stack, id_, body in resources_of(self.templates, kind):
                yield Resource(f"{stack}/{id_}", stack, id_, body, self._names)

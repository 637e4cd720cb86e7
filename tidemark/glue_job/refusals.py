"""Refuses the names in `not_yet` when a script uses them; an import is not a use.

The package `awsglue` installs it: members of its classes, names in its modules, and whole modules.
"""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

from tidemark.model.awsglue_api import not_yet


class NotYet(type):
    """The class of a name that can be imported; any use of it is refused."""

    def __new__(cls, name: str, bases: tuple[type, ...] = (), members: Any = None) -> "NotYet":
        """Return the stand-in for a name; deriving a class from it is a use."""
        if bases:
            raise not_yet.refusal(bases[0].__name__)
        return super().__new__(cls, name, (), dict(members or {}))

    def __init__(cls, name: str, bases: tuple[type, ...] = (), members: Any = None) -> None:
        """Do nothing more than `__new__`."""

    def __getattr__(cls, member: str) -> NoReturn:
        if member.startswith("_"):
            raise AttributeError(member)
        raise not_yet.refusal(f"{cls.__name__}.{member}")

    def _refuse(cls, *_: Any, **__: Any) -> NoReturn:
        raise not_yet.refusal(cls.__name__)

    __call__ = __iter__ = __len__ = __bool__ = __getitem__ = __contains__ = _refuse


class NotYetMember:
    """A member of a class: a stand-in, named after the class it is read from.

    Reading it is not a use, because `inspect`, mocks with a spec and debuggers read every member.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> NotYet:
        return NotYet(f"{owner.__name__}.{self.name}")


def install(module: str) -> list[str]:
    """Put the stand-ins into an otherwise complete module; return their names.

    A name that the module already has is not replaced.
    """
    space = vars(sys.modules[module])
    for owner in not_yet.NOT_YET.get(module, {}):
        for name in not_yet.members_of(module, owner):
            member = NotYetMember()
            member.__set_name__(space[owner], name)
            setattr(space[owner], name, member)
    names = [name for name in not_yet.names_of(module) if name not in space]
    # With its module, so that it can be pickled into the workers of Spark.
    space.update({name: NotYet(name, (), {"__module__": module}) for name in names})
    return names


class ModulesFinder(MetaPathFinder, Loader):
    """Finds the modules that exist on AWS only; asked after all other finders."""

    def __init__(self, frame: type) -> None:
        """Remember the class that modules of Glue Studio add a method to."""
        self._frame = frame

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the stand-in for a module of this name, or the package above such modules."""
        is_package = any(module.startswith(f"{name}.") for module in not_yet.NOT_YET)
        if name not in not_yet.NOT_YET and not is_package:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=is_package)

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module with its stand-ins."""
        module.__dict__["__all__"] = install(module.__name__)
        if module.__name__ in not_yet.STUDIO:
            member = NotYetMember()
            member.__set_name__(self._frame, module.__name__)
            setattr(self._frame, module.__name__, member)


def install_finder(frame: type) -> None:
    """Make every module of AWS importable, once per process; Studio's add to a class of frames."""
    if not any(isinstance(finder, ModulesFinder) for finder in sys.meta_path):
        sys.meta_path.append(ModulesFinder(frame))

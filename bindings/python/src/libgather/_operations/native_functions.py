"""Functions whose calls the C code runs. Python code runs the calls that the C code does not support."""

from __future__ import annotations

from functools import update_wrapper

from .. import _objects
from .._base.request_fields import Request
from .keyword_hints import refuse_keywords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .._base.signature_types import FunctionT

#: The arguments of run_arrays() after the operation.
_PLACES = ("table", "indices", "rows", *Request._fields)
# The kinds of functions in native/function.c.
OPERATION, TAKE = range(2)


def run_natively(
    operation: int,
    kind: int = OPERATION,
    modes: Mapping[str, str] | None = None,
    fixed: dict[str, Any] | None = None,
    **names: str,
) -> Callable[[FunctionT], FunctionT]:
    """Decorates a function so that the C code runs its calls.

    Args:
        operation: The number of the operation.
        kind: OPERATION for a function with the parameters of run_arrays(), whose body is empty. TAKE has NumPy's rules,
            and its body runs the calls that the C code does not support.
        modes: The profile for each value of the parameter that `names` calls ``"profile"``.
        fixed: The arguments of run_arrays() that differ from a Request without arguments.
        names: The argument of run_arrays() for each parameter that has another name.
    """

    def decorated(function: FunctionT) -> FunctionT:
        python: Any = function
        positional, defaults = python.__code__.co_argcount, python.__defaults__ or ()
        parameters = python.__code__.co_varnames[: positional + python.__code__.co_kwonlyargcount]
        required = positional - len(defaults)
        places = [names.get(parameter, parameter) for parameter in parameters]
        values = dict.fromkeys(_PLACES) | Request()._asdict() | (fixed or {})
        values |= zip(places[required:positional], defaults, strict=True)
        values |= {names.get(parameter, parameter): value for parameter, value in (python.__kwdefaults__ or {}).items()}
        numbers = tuple(_PLACES.index(place) + 1 for place in places)
        arguments = (operation, *values.values())
        slow = refusing(python) if kind == OPERATION else python
        made = _objects.function(slow, kind, parameters, numbers, required, positional, arguments, modes)
        update_wrapper(made, slow)
        return made  # type: ignore[no-any-return]

    return decorated


def refusing(python: Any) -> Callable[..., None]:
    """Returns a function that raises the error for arguments that do not fit the parameters of an operation."""
    known = python.__code__.co_varnames[: python.__code__.co_argcount + python.__code__.co_kwonlyargcount]

    def refuse(*arguments: Any, **keywords: Any) -> None:
        python(*arguments, **keywords)
        refuse_keywords(python.__name__, {name: value for name, value in keywords.items() if name not in known})

    return update_wrapper(refuse, python)

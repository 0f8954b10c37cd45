# As much of JAX as the signatures of libgather.jax name.
from typing import Any

from . import numpy as numpy
from . import typing as typing

class Array: ...

def __getattr__(name: str) -> Any: ...

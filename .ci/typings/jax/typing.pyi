from . import Array

ArrayLike = Array | bool | int | float | complex

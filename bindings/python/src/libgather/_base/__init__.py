"""Constants, dtypes, types of signatures, and calls of the library. ``errors`` and ``types`` belong to this layer."""

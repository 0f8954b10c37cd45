"""Packed rows: calls, the systems that decode them, and the recorder of their answers."""

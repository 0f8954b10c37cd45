"""Contexts, the streams of a call on a device, and memory that the library describes."""

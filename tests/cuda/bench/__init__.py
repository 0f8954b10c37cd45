"""Measures gathers on a CUDA device and compares them with the limits of the device and with other libraries.

It writes a report. See python3 -m bench --help, in the parent folder.
"""

"""Measures gathers on a CUDA device, beside what the device can do at best and beside other libraries, and writes a
report: python3 -m bench --help, from the folder that this one is in.
"""

"""Scatters: their cases, the plain answer, and how each system is asked.

python -m record.scatter --write | --check
"""

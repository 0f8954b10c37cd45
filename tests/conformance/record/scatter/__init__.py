"""Scatters: their cases, their oracle, and the calls of each system.

python -m record.scatter --write | --check
"""

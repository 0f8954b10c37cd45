"""Bags: their cases, their oracle, and the calls of each system.

python -m record.bags --write | --check
"""

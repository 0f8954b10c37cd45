"""Gradients of gathers: their cases, and the calls of each system. The oracle of scatters computes the expected result.

python -m record.gradient --write | --check
"""

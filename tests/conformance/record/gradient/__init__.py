"""Gradients of gathers: their cases, and how each system is asked. The plain answer is that of a scatter.

python -m record.gradient --write | --check
"""

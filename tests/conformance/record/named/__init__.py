"""The named cases: facts about each system, published examples, hostile inputs."""

from . import elements, hostile, onnx, padding, python, scalars, tensorflow


def cases():
    for module in (tensorflow, onnx, python, hostile, elements, scalars, padding):
        yield from module.cases()

"""The named cases: facts about each system, published examples, hostile inputs."""

from . import elements, hostile, onnx, python, scalars, tensorflow


def cases():
    for module in (tensorflow, onnx, python, hostile, elements, scalars):
        yield from module.cases()

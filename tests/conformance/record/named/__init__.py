"""The named cases: facts about each system, published examples, hostile inputs."""

from . import hostile, onnx, python, tensorflow


def cases():
    for module in (tensorflow, onnx, python, hostile):
        yield from module.cases()

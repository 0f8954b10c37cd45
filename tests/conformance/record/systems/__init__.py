"""The real systems. Each system has a module, which only its own worker process imports.

A module has
    SOURCE               what the line `source` says expresses(case)      true if the system can express the case
    risky(case)          true if the case may crash or hang the process run(case)            its answer as a NumPy array
    (object arrays hold bytes), or an exception
"""

OF_PROFILE = {
    "tensorflow": "tensorflow",
    "tensorflow_gpu": "tensorflow",
    "onnx": "onnx",
    "ort": "onnxruntime",
    "numpy_raise": "numpy",
    "numpy_wrap": "numpy",
    "numpy_clip": "numpy",
    "torch": "torch",
    "jax_fill": "jax",
    "jax_clip": "jax",
}

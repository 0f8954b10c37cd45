"""The parts of a request: operations, options, specs, tensors, outputs, and the device of a call."""

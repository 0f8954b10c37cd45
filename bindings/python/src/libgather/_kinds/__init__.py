"""The kinds of arrays that callers bring: each says how one becomes memory of the library, and how that leaves again.

A kind is a module with ``enter(value, site, operand)``, which gives a Memory, and ``leave(memory, like)``, which
gives an array like the caller's. The site says where the call works; None: on the host, or that only the shape is of
interest. A kind may have besides:

- ``enter_output(value, site, operand)``: a Memory that may be written
- ``place_of(value, operand)``: where an array lies, which may be a device
- ``current_stream(value, place)``: the stream that its library uses there
- ``carried_of(value)``: NumPy's dtype of elements that the library has no dtype for
- ``written(value)``: called after a call has written to it
- ``native(value)``: the array in the machine's byte order
- ``is_program(params, indices, request)``: whether a compiled program of its library does such a call
- ``quick(run, params, indices, request)``: a result without any Memory, or NotImplemented
- ``hold(value)``: called before its address is kept, that it may not be moved while what this returns is kept
"""

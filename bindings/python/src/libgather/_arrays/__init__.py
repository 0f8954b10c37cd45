"""The kinds of arrays of callers. Each kind converts its arrays to memory of the library, and results back.

A kind is a module with ``enter(value, site, operand)``, which returns a Memory, and ``leave(memory, like)``, which
returns an array of the caller's kind. Values that are not arrays have no ``leave``. `site` is the device and stream of
the call. It is None on the host, and if only the shape is needed. A kind may also have these functions:

- ``enter_output(value, site, operand)``: returns a Memory that can be written
- ``place_of(value, operand)``: returns the device of an array
- ``current_stream(value, place)``: returns the stream that its library uses on that device
- ``new_array(like, shape, place, zeroed, dtype)``: returns a new array on a device from the library of an array. A
  dtype of None means that of the array
- ``carried_of(value)``: returns the NumPy dtype of elements that have no dtype of the library
- ``loaded(value)``: returns the array of an object that has to be converted
- ``written(value)``: is called after a call has written the array
- ``native(value)``: returns the array in native byte order
- ``is_program(params, indices, request)``: returns whether a compiled program of its library runs such a call
- ``register(kind)``: is called once for each type of arrays, before its first array is used
- ``row_axis(value, axis)``: returns the axis of a gather from a column or a table, or None for other arrays
- ``gather_rows(params, selection)``: returns rows without any Memory, or NotImplemented
- ``scatter_rows(target, updates, selection, inplace)``: writes rows without any Memory, or returns NotImplemented
- ``split_nulls(value)``: returns indices without nulls, and their validity bits
- ``hold(value)``: prevents a move of the array's memory while the returned object exists
"""

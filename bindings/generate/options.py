"""The options of a call: the fields of gth_options that a binding sets with one function each.

A text completes the sentence "sets ..". `{GTH_BOUNDS_FILL}` names a constant, and `{gather}` an operation.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    field: str
    # "int32" or "int64", or the prefix of the constants that are its values.
    kind: str
    does: str
    # What the value is in the documentation of the parameter.
    value: str


@dataclass(frozen=True)
class Values:
    """The named values of an option: constants with one prefix."""

    prefix: str
    name: str
    # Completes the sentence "It is ..".
    text: str


VALUES = [
    Values("GTH_PROFILE_", "Profile", "a set of rules that makes the library return the results of another system"),
    Values("GTH_NEGATIVE_", "Negative", "the meaning of a negative index"),
    Values("GTH_BOUNDS_", "Bounds", "the meaning of an index out of bounds"),
    Values("GTH_FILL_", "Fill", "the kind of value that {GTH_BOUNDS_FILL} and padding of gathers write"),
    Values(
        "GTH_EXTENTS_",
        "Extents",
        "the rule for the extents of params and indices in the dims that are not the axis, in element-wise calls",
    ),
    Values("GTH_REDUCTION_", "Reduction", "the way in which a scatter combines an update with the row that it selects"),
    Values("GTH_ACCUMULATE_", "Accumulate", "the type in which floating numbers are added and multiplied"),
    Values("GTH_INITIAL_", "Initial", "what the reduction of a row by a scatter begins with"),
    Values("GTH_BAGS_", "BagFormat", "the way in which the operand bags divides indices into bags"),
    Values("GTH_POOL_", "Pool", "the way in which the rows of a bag become one"),
    Values("GTH_EMPTY_", "Empty", "the row of a bag of which no id is read"),
]

OPTIONS = [
    Option(
        "axis",
        "int64",
        "the dim of params that indices select in. A negative axis counts from the end. Without this option the axis "
        "is the number of batch dims.",
        "the axis, from -rank to rank - 1",
    ),
    Option(
        "batch_dims",
        "int64",
        "the number of leading dims that params and indices share. For {gather} a negative number counts from the "
        "rank of indices.",
        "the number of dims",
    ),
    Option(
        "profile",
        "GTH_PROFILE_",
        "the system whose results a call has in every edge case. Other options override its switches.",
        "the profile",
    ),
    Option(
        "opset",
        "int32",
        "the ONNX version of {GTH_PROFILE_ONNX} and {GTH_PROFILE_ORT}. 0 is the newest.",
        "the opset",
    ),
    Option("negative", "GTH_NEGATIVE_", "the meaning of a negative index.", "the meaning"),
    Option("bounds", "GTH_BOUNDS_", "the meaning of an index out of bounds.", "the meaning"),
    Option("fill", "GTH_FILL_", "the value that {GTH_BOUNDS_FILL} and padding of gathers write.", "the kind of value"),
    Option(
        "extents",
        "GTH_EXTENTS_",
        "the rule for the extents of params and indices of {gather_elements} and {scatter_elements} in the dims that "
        "are not the axis.",
        "the rule",
    ),
    Option(
        "reduction",
        "GTH_REDUCTION_",
        "how a scatter combines an update with the row that it selects. Without this option the update replaces the "
        "row. Calls other than scatters reject it.",
        "the way",
    ),
    Option(
        "accumulate",
        "GTH_ACCUMULATE_",
        "the type in which scatters, gradients and bags add and multiply floating numbers. Other calls reject it.",
        "the type",
    ),
    Option(
        "threads",
        "int32",
        "the highest number of CPU threads of a call. 0 is the number of the context.",
        "the number",
    ),
    Option("bag_format", "GTH_BAGS_", "how the operand bags of gather_bags divides indices into bags.", "the format"),
    Option("pool", "GTH_POOL_", "how gather_bags makes one row of the rows of a bag.", "the way"),
    Option("empty", "GTH_EMPTY_", "the row of a bag of gather_bags of which no id is read.", "the kind of row"),
    Option(
        "padding_index",
        "int64",
        "an index that selects nothing and is no error, whether it is in bounds or not. A gather fills its row as "
        "the option for fill values states, by default with zeros. A scatter drops its update. gather_bags does not "
        "count it.",
        "the index",
    ),
    Option(
        "initial",
        "GTH_INITIAL_",
        "what the reduction of a row by a scatter begins with: the row of target, or the first update.",
        "the kind of value",
    ),
    Option("bag_count", "int64", "the number of bags of gather_bags with {GTH_BAGS_SEGMENTS}.", "the number"),
]

# The fields that no option of the table sets. Each language sets fill_value by the type of the value.
OTHERS = {"size", "fill_value", "out_dtype", "reserved"}


def check(header):
    """Fails if a field has no option, or an option no field."""
    fields = {each.name for each in next(s for s in header.structs if s.name == "gth_options").fields}
    named = {each.field for each in OPTIONS}
    for name in named - fields:
        raise ValueError(f"gth_options has no field {name}")
    for name in fields - named - OTHERS:
        if name.removeprefix("has_") not in named:
            raise ValueError(f"gth_options.{name} has no option")
    return fields

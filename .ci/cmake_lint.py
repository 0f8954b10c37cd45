"""The configuration of cmake-lint. Names of the project are in lower case."""

with section("format"):
    line_width = 120
    tab_size = 2

with section("lint"):
    public_var_pattern = "[A-Za-z][0-9A-Za-z_]*"
    disabled_codes = [
        "C0111",  # It requires a comment before each function.
        "C0113",  # It requires a COMMENT for each command.
        "E1126",  # It does not support file(CONFIGURE).
    ]

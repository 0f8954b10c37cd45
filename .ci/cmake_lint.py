"""How cmake-lint reads the CMake files: names are those of the project, in small letters."""

with section("format"):
    line_width = 120
    tab_size = 2

with section("lint"):
    public_var_pattern = "[A-Za-z][0-9A-Za-z_]*"
    disabled_codes = [
        "C0111",  # a comment before a function, where the name does not say it all
        "C0113",  # a COMMENT for each command
        "E1126",  # file(CONFIGURE) is not known to it
    ]

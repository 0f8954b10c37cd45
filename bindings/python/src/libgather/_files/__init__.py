"""Tables in files: the table, and the readers of the headers of files."""

module callers

go 1.24

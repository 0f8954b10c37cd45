module libgather/godoc

go 1.24

module libgather/gather

go 1.24

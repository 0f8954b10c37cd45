module libgather.io/gather

go 1.24

module overhead

go 1.24

require libgather/gather v0.0.0

replace libgather/gather => ../../../bindings/go

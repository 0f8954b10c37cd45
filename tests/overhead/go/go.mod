module overhead

go 1.24

require libgather.io/gather v0.0.0

replace libgather.io/gather => ../../../bindings/go

module libgather.io/property

go 1.24

require (
	gonum.org/v1/gonum v0.16.0
	libgather.io/gather v0.0.0
	pgregory.net/rapid v1.3.0
)

replace libgather.io/gather => ../

//go:build !gather_shared && !gather_static

package gather

import (
	_ "libgather.io/gather/internal/avx2"
	_ "libgather.io/gather/internal/avx512"
)

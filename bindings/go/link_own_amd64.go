//go:build !gather_shared && !gather_static

package gather

import _ "libgather/gather/internal/avx2"

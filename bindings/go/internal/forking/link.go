//go:build !cambium_pkgconfig

package forking

// The compiler finds the headers and the linker finds the library in their default places, or in those that the
// environment variables CGO_CFLAGS and CGO_LDFLAGS name.

// #cgo LDFLAGS: -lcambium
import "C"

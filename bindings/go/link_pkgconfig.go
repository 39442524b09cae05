//go:build cambium_pkgconfig

package cambium

// pkg-config finds the headers and the library.

// #cgo pkg-config: cambium
import "C"

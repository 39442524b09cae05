//go:build cambium_pkgconfig

package forking

// pkg-config finds the headers and the library.

// #cgo pkg-config: cambium
import "C"

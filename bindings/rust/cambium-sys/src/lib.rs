//! Declarations of the C interface of Cambium, an embedded key-value store for Linux.
//!
//! The declarations are made by bindgen from `include/cambium/c.h`, whose comments say what each function does, who owns
//! what it returns, and which threads may call it. The crate `cambium` has a safe interface over this one.
//!
//! The functions have the ABI `C-unwind`: one that reports no errors may throw `std::bad_alloc`, and that exception then
//! ends the program. Callbacks have the ABI `C`: a panic in one ends the program, so catch it.
//!
//! # Linking
//!
//! The build script links `libcambium.so`. It looks in `CAMBIUM_PREFIX` (which has `lib/libcambium.so` and
//! `include/cambium/c.h`), or asks pkg-config for `cambium`. It uses no network and no other crate. To run a program, the
//! dynamic linker must find the library too: install it where the linker looks, or set `LD_LIBRARY_PATH`. A build script
//! of a crate that depends directly on this one gets `DEP_CAMBIUM_LIBDIR` and `DEP_CAMBIUM_INCLUDE`.
#![no_std]
#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case)]

#[rustfmt::skip]
mod bindings;

pub use bindings::*;

//! Finds `libcambium.so`: in `CAMBIUM_PREFIX`, or with pkg-config. Uses no network and no other crate.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The number in the name of the library that the committed declarations belong to.
const ABI_VERSION: u32 = 1;
/// The file that a linker looks for.
const LIBRARY: &str = "libcambium.so";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for name in ["CAMBIUM_PREFIX", "PKG_CONFIG", "PKG_CONFIG_PATH", "DOCS_RS"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    // A service that builds documentation sets this variable. It has no library, and needs none.
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    match find() {
        Ok(found) => found.print(),
        Err(error) => {
            println!(
                "cargo::error=cambium-sys found no {LIBRARY}: {error}. Set CAMBIUM_PREFIX to the directory that has \
                 lib/{LIBRARY} and include/cambium/c.h, or PKG_CONFIG_PATH to the directory that has cambium.pc."
            );
        }
    }
}

/// Directories of an installed library. Without a directory, the compiler looks in its own.
struct Found {
    libraries: Option<PathBuf>,
    include: Option<PathBuf>,
}

impl Found {
    /// Tells cargo how to link. The crates that depend on this one get `DEP_CAMBIUM_LIBDIR` and `DEP_CAMBIUM_INCLUDE`.
    fn print(&self) {
        if let Some(directory) = &self.libraries {
            println!("cargo::rustc-link-search=native={}", directory.display());
            println!("cargo::metadata=libdir={}", directory.display());
        }
        if let Some(directory) = &self.include {
            println!("cargo::metadata=include={}", directory.display());
        }
        println!("cargo::rustc-link-lib=dylib=cambium");
    }
}

fn find() -> Result<Found, Box<dyn Error>> {
    let found = match env::var_os("CAMBIUM_PREFIX") {
        Some(prefix) => in_prefix(Path::new(&prefix))?,
        None => by_pkg_config()?,
    };
    if let Some(include) = &found.include {
        check_header(&include.join("cambium/c.h"))?;
    }
    Ok(found)
}

fn in_prefix(prefix: &Path) -> Result<Found, Box<dyn Error>> {
    // Debian's directory has the triple of its compilers, which is that of Rust without the vendor.
    let triple = format!("lib/{}-linux-gnu", env::var("CARGO_CFG_TARGET_ARCH")?);
    for directory in ["lib", "lib64", triple.as_str()] {
        let directory = prefix.join(directory);
        if directory.join(LIBRARY).exists() {
            println!("cargo::rerun-if-changed={}", directory.join(LIBRARY).display());
            let include = prefix.join("include");
            return Ok(Found { libraries: Some(directory.canonicalize()?), include: Some(include) });
        }
    }
    Err(format!("CAMBIUM_PREFIX is {}, which has no lib/{LIBRARY}", prefix.display()).into())
}

fn by_pkg_config() -> Result<Found, Box<dyn Error>> {
    Ok(Found { libraries: ask_pkg_config("libdir")?, include: ask_pkg_config("includedir")? })
}

/// Returns a variable of cambium.pc, or nothing if it is empty.
fn ask_pkg_config(variable: &str) -> Result<Option<PathBuf>, Box<dyn Error>> {
    let program = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    let output = Command::new(&program)
        .arg(format!("--variable={variable}"))
        .arg("cambium >= 0.1")
        .output()
        .map_err(|error| format!("CAMBIUM_PREFIX is not set, and {program:?} did not run: {error}"))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!("CAMBIUM_PREFIX is not set, and pkg-config says: {}", reason.trim()).into());
    }
    let text = String::from_utf8(output.stdout)?;
    Ok(Some(text.trim()).filter(|text| !text.is_empty()).map(PathBuf::from))
}

/// A header of another version means a library of another version. Without a header, the library is checked when the
/// program runs.
fn check_header(header: &Path) -> Result<(), Box<dyn Error>> {
    let Ok(text) = fs::read_to_string(header) else { return Ok(()) };
    println!("cargo::rerun-if-changed={}", header.display());
    let number = text
        .lines()
        .find_map(|line| line.strip_prefix("#define CAMBIUM_ABI_VERSION "))
        .and_then(|number| number.trim().parse::<u32>().ok());
    match number {
        Some(ABI_VERSION) => Ok(()),
        Some(other) => Err(format!(
            "{} declares version {other} of the C interface, and this crate needs version {ABI_VERSION}",
            header.display()
        )
        .into()),
        None => Err(format!("{} does not declare CAMBIUM_ABI_VERSION", header.display()).into()),
    }
}

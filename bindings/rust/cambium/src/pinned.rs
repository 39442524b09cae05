//! Values that are read without a copy into a `Vec`.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::slice;

use cambium_sys as ffi;

/// A value that the library holds. It dereferences to its bytes, and borrows the object that it was read with, so that
/// the database cannot be closed before.
///
/// ```
/// # fn main() -> cambium::Result<()> {
/// # let path = std::env::temp_dir().join(format!("cambium-doc-pinned-{}", std::process::id()));
/// # let db = cambium::Db::open_default(&path)?;
/// db.put("key", "value")?;
/// if let Some(value) = db.get_pinned("key")? {
///     assert_eq!(&value[..], b"value");
/// }
/// # db.close()?;
/// # cambium::destroy_db(&cambium::Options::new(), &path)
/// # }
/// ```
pub struct PinnedValue<'db> {
    slice: NonNull<ffi::cambium_pinnableslice_t>,
    data: NonNull<u8>,
    length: usize,
    db: PhantomData<&'db ()>,
}

// SAFETY: one thread at a time may use the slice of the library. Only the owner does, when the value is dropped. The bytes
// are only read.
unsafe impl Send for PinnedValue<'_> {}
// SAFETY: as above.
unsafe impl Sync for PinnedValue<'_> {}

impl PinnedValue<'_> {
    /// `None` for NULL: the key does not exist.
    ///
    /// # Safety
    /// `slice` is NULL, or a slice that nothing else destroys. The database remains open during 'db.
    pub(crate) unsafe fn own(slice: *mut ffi::cambium_pinnableslice_t) -> Option<Self> {
        let slice = NonNull::new(slice)?;
        let mut length = 0;
        // SAFETY: the slice is valid.
        let data = unsafe { ffi::cambium_pinnableslice_value(slice.as_ptr(), &raw mut length) };
        let data = NonNull::new(data.cast_mut().cast()).unwrap_or(NonNull::dangling());
        Some(Self { slice, data, length, db: PhantomData })
    }
}

impl Deref for PinnedValue<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes are valid as long as the slice of the library.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.length) }
    }
}

impl AsRef<[u8]> for PinnedValue<'_> {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for PinnedValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl Drop for PinnedValue<'_> {
    fn drop(&mut self) {
        // SAFETY: the slice is ours, and the database is open.
        unsafe { ffi::cambium_pinnableslice_destroy(self.slice.as_ptr()) };
    }
}

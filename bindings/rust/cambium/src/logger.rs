//! Where the lines of the log of events go.

use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cambium_sys as ffi;

use crate::enums::LogLevel;
use crate::raw;

/// Makes options write their log of events to `log`. Returns what must live as long as options or a database use it.
///
/// # Safety
/// `options` are options that no other thread uses.
pub(crate) unsafe fn set<F>(options: *mut ffi::cambium_options_t, level: LogLevel, log: F) -> Arc<dyn Send + Sync>
where
    F: Fn(LogLevel, &str) + Send + Sync + 'static,
{
    let state = Arc::new(log);
    let its = Arc::as_ptr(&state).cast_mut().cast();
    // SAFETY: the callback is that for this type of state. The object itself may be destroyed before the options.
    unsafe {
        let made = ffi::cambium_logger_create_callback_logger(level.to_raw(), Some(log_line::<F>), its);
        ffi::cambium_options_set_info_log(options, made);
        ffi::cambium_logger_destroy(made);
    }
    state
}

/// # Safety
/// `state` is an `F` that lives, and the line can be read.
unsafe extern "C" fn log_line<F>(state: *mut c_void, level: c_int, line: *const c_char, length: usize)
where
    F: Fn(LogLevel, &str) + Send + Sync + 'static,
{
    // SAFETY: the caller promises it.
    let (log, line) = unsafe { (&*state.cast::<F>(), raw::bytes(line, length)) };
    // The panic hook reports a panic; the database goes on.
    let _ = catch_unwind(AssertUnwindSafe(|| log(LogLevel::from_raw(level), &String::from_utf8_lossy(line))));
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn call<F: Fn(LogLevel, &str) + Send + Sync + 'static>(log: &F, line: &[u8]) {
        let state = std::ptr::from_ref(log).cast_mut().cast();
        // SAFETY: the state is of this type.
        unsafe { log_line::<F>(state, LogLevel::Warn.to_raw(), raw::address(line), line.len()) };
    }

    #[test]
    fn the_callback_passes_lines_on_and_catches_panics() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let its = Arc::clone(&lines);
        let log = move |level: LogLevel, line: &str| {
            assert_ne!(line, "panic", "expected by the test");
            its.lock().unwrap().push(format!("{level:?} {line}"));
        };
        call(&log, b"first");
        call(&log, b"panic");
        call(&log, b"odd \xff");
        assert_eq!(*lines.lock().unwrap(), ["Warn first", "Warn odd \u{fffd}"]);
    }
}

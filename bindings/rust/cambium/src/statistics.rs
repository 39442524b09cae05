//! What a database has counted.

use std::ffi::CString;
use std::fmt;
use std::ptr::NonNull;

use cambium_sys as ffi;

use crate::enums::StatisticsLevel;
use crate::raw;

/// Counters and histograms of all databases that were opened with the same
/// [statistics](crate::Options::enable_statistics). It lives as long as you keep it.
///
/// ```
/// # fn main() -> cambium::Result<()> {
/// # let path = std::env::temp_dir().join(format!("cambium-doc-statistics-{}", std::process::id()));
/// use cambium::{Db, Options};
///
/// let mut options = Options::new();
/// options.set_create_if_missing(true).enable_statistics();
/// let db = Db::open(&options, &path)?;
/// db.put("key", "value")?;
/// let statistics = options.statistics();
/// assert_eq!(statistics.ticker("rocksdb.number.keys.written"), Some(1));
/// # db.close()?;
/// # cambium::destroy_db(&Options::new(), &path)
/// # }
/// ```
pub struct Statistics {
    /// A copy of the options, which share their statistics.
    options: NonNull<ffi::cambium_options_t>,
}

// SAFETY: one thread at a time may use the options, and that may be any thread.
unsafe impl Send for Statistics {}

impl Statistics {
    /// # Safety
    /// `options` are options that nothing else destroys.
    pub(crate) unsafe fn own(options: *mut ffi::cambium_options_t) -> Self {
        Self { options: NonNull::new(options).expect("the library returns no NULL here") }
    }

    /// All counters and histograms as text. `None`: there are no statistics.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        // SAFETY: the options are valid, and the text is ours.
        unsafe { raw::take_string(ffi::cambium_options_statistics_get_string(self.options.as_ptr())) }
    }

    /// The counter of this name, for example `rocksdb.memtable.hit`. `None`: there is no such counter. 0 without
    /// statistics.
    #[must_use]
    pub fn ticker(&self, name: &str) -> Option<u64> {
        let name = CString::new(name).ok()?;
        // SAFETY: the name ends with a zero.
        let number = unsafe { ffi::cambium_statistics_ticker(name.as_ptr()) };
        // SAFETY: the options are valid, and the number is that of a counter.
        (number != u32::MAX)
            .then(|| unsafe { ffi::cambium_options_statistics_get_ticker_count(self.options.as_ptr(), number) })
    }

    /// The histogram of this name, for example `rocksdb.db.get.micros`. `None`: there is no such histogram. Zeros without
    /// statistics.
    #[must_use]
    pub fn histogram(&self, name: &str) -> Option<Histogram> {
        let name = CString::new(name).ok()?;
        // SAFETY: the name ends with a zero.
        let number = unsafe { ffi::cambium_statistics_histogram(name.as_ptr()) };
        if number == u32::MAX {
            return None;
        }
        // SAFETY: the options are valid, the number is that of a histogram, and the data is ours until it is destroyed.
        unsafe {
            let data = ffi::cambium_statistics_histogram_data_create();
            ffi::cambium_options_statistics_get_histogram_data(self.options.as_ptr(), number, data);
            let histogram = Histogram {
                median: ffi::cambium_statistics_histogram_data_get_median(data),
                p95: ffi::cambium_statistics_histogram_data_get_p95(data),
                p99: ffi::cambium_statistics_histogram_data_get_p99(data),
                average: ffi::cambium_statistics_histogram_data_get_average(data),
                std_dev: ffi::cambium_statistics_histogram_data_get_std_dev(data),
                max: ffi::cambium_statistics_histogram_data_get_max(data),
                min: ffi::cambium_statistics_histogram_data_get_min(data),
                count: ffi::cambium_statistics_histogram_data_get_count(data),
                sum: ffi::cambium_statistics_histogram_data_get_sum(data),
            };
            ffi::cambium_statistics_histogram_data_destroy(data);
            Some(histogram)
        }
    }

    /// What is counted.
    #[must_use]
    pub fn level(&self) -> StatisticsLevel {
        // SAFETY: the options are valid.
        StatisticsLevel::from_raw(unsafe { ffi::cambium_options_get_statistics_level(self.options.as_ptr()) })
    }

    /// Changes what is counted, also for open databases. No effect without statistics.
    pub fn set_level(&mut self, level: StatisticsLevel) {
        // SAFETY: the options are valid.
        unsafe { ffi::cambium_options_set_statistics_level(self.options.as_ptr(), level.to_raw()) };
    }
}

impl Drop for Statistics {
    fn drop(&mut self) {
        // SAFETY: the options are ours.
        unsafe { ffi::cambium_options_destroy(self.options.as_ptr()) };
    }
}

impl fmt::Debug for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Statistics").field("level", &self.level()).finish_non_exhaustive()
    }
}

/// A distribution of times or sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Histogram {
    /// Half of the values are at most this.
    pub median: f64,
    /// 95 % of the values are at most this.
    pub p95: f64,
    /// 99 % of the values are at most this.
    pub p99: f64,
    /// The mean.
    pub average: f64,
    /// The standard deviation.
    pub std_dev: f64,
    /// The largest value.
    pub max: f64,
    /// The smallest value.
    pub min: f64,
    /// How many values there are.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
}

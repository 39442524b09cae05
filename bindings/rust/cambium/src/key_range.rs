//! Ranges of keys.

use std::ops::{Range, RangeFrom, RangeFull, RangeTo};

/// A range of keys for [`iter_range`](crate::Db::iter_range): `start..end`, `start..`, `..end` or `..`, where the bounds
/// are anything that has bytes. The start is included and the end is not, in the order of the column family.
///
/// `..=end` is no such range, because only for some orders is there a key right after `end`.
pub trait KeyRange: sealed::Sealed {
    /// The first key, if there is a bound.
    fn start(&self) -> Option<&[u8]>;
    /// The first key after the range, if there is a bound.
    fn end(&self) -> Option<&[u8]>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! impl_key_range {
    ($range:ty, $self:ident, $start:expr, $end:expr $(, $generic:ident)?) => {
        impl$(<$generic: AsRef<[u8]>>)? sealed::Sealed for $range {}
        impl$(<$generic: AsRef<[u8]>>)? KeyRange for $range {
            fn start(&$self) -> Option<&[u8]> {
                $start
            }
            fn end(&$self) -> Option<&[u8]> {
                $end
            }
        }
    };
}
impl_key_range!(Range<K>, self, Some(self.start.as_ref()), Some(self.end.as_ref()), K);
impl_key_range!(RangeFrom<K>, self, Some(self.start.as_ref()), None, K);
impl_key_range!(RangeTo<K>, self, None, Some(self.end.as_ref()), K);
impl_key_range!(RangeFull, self, None, None);

/// The first key after all keys that begin with `prefix`, in the order of bytes. `None`: there is no such key, because
/// the prefix is empty or has only bytes 0xff.
pub(crate) fn end_of_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_prefix_is_the_next_key_without_it() {
        assert_eq!(end_of_prefix(b"abc"), Some(b"abd".to_vec()));
        assert_eq!(end_of_prefix(b"ab\xff\xff"), Some(b"ac".to_vec()));
        assert_eq!(end_of_prefix(b"\x00"), Some(b"\x01".to_vec()));
        assert_eq!(end_of_prefix(b"\xff"), None);
        assert_eq!(end_of_prefix(b""), None);
    }

    #[test]
    fn ranges_have_their_bounds() {
        fn bounds(range: impl KeyRange) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
            (range.start().map(<[u8]>::to_vec), range.end().map(<[u8]>::to_vec))
        }
        assert_eq!(bounds("a".."b"), (Some(b"a".to_vec()), Some(b"b".to_vec())));
        assert_eq!(bounds(b"a".to_vec()..), (Some(b"a".to_vec()), None));
        assert_eq!(bounds(..b"b"), (None, Some(b"b".to_vec())));
        assert_eq!(bounds(..), (None, None));
    }
}

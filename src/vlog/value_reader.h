// Reading a separated value: one read of the record, then everything it says is compared with what the index said.
#pragma once

#include <string>

#include "cambium/comparator.h"
#include "cambium/slice.h"
#include "cambium/status.h"
#include "vlog/segment.h"
#include "vlog/value_address.h"

namespace cambium {

// Fills *value with the value of `key` in `family` that is at `address`. A record of another key or family, or one that
// does not validate, is Corruption naming file and offset: a wrong address never becomes a wrong value. After any error
// *value is empty. The body's
// checksum is compared if `verify_checksums`; header, family and key always. `order`: set if keys with other bytes may be
// equal, as under an order that folds case; then it says whether the record's key is the one asked for.
Status ReadValue(const SegmentTable& segments, ValueAddress address, std::uint32_t family, Slice key,
                 bool verify_checksums, std::string* value, const Comparator* order = nullptr);

// The same without the value's bytes: is the record of this key at this address, as far as its header and key tell?
Status CheckRecord(const SegmentTable& segments, ValueAddress address, std::uint32_t family, Slice key,
                   const Comparator* order = nullptr);

// The first record of a file of kind kLargeValue starts here: values are then aligned for direct I/O as far as a header
// and a key allow.
inline constexpr std::uint64_t kLargeRecordOffset = 128;

}  // namespace cambium

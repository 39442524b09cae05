#include "transactions/prepared_record.h"

#include <utility>

#include "index/key_for_message.h"
#include "util/coding.h"

namespace cambium {
namespace {

constexpr unsigned char kVersion = 1;
constexpr unsigned char kExclusive = 1;

bool GetLock(Slice* in, PreparedRecord::KeyLock* lock) {
  unsigned char flags = 0;
  if (!GetVarint32(in, &lock->family) || !GetFixed(in, &flags) || !GetLengthPrefixed(in, &lock->key)) return false;
  lock->exclusive = flags == kExclusive;
  return flags <= kExclusive;
}

}  // namespace

std::string EncodePreparedRecord(const std::vector<PreparedRecord::KeyLock>& locks, const WriteBatch& batch) {
  std::size_t size = 1 + kMaxVarint64Size + batch.GetDataSize();
  for (const PreparedRecord::KeyLock& lock : locks) size += 1 + 2 * kMaxVarint64Size + lock.key.size();
  std::string bytes;
  bytes.reserve(size);
  PutFixed<unsigned char>(&bytes, kVersion);
  PutVarint64(&bytes, locks.size());
  for (const PreparedRecord::KeyLock& lock : locks) {
    PutVarint64(&bytes, lock.family);
    PutFixed<unsigned char>(&bytes, lock.exclusive ? kExclusive : 0);
    PutLengthPrefixed(&bytes, lock.key);
  }
  bytes += batch.Data();
  return bytes;
}

Result<PreparedRecord> DecodePreparedRecord(Slice name, Slice whole) {
  Slice bytes = whole;
  const std::string where = "prepared transaction " + KeyForMessage(name);
  unsigned char version = 0;
  if (!GetFixed(&bytes, &version)) return Status::Corruption(where + ": the record is empty");
  if (version != kVersion) {
    return Status::NotSupported(where + ": the record has version " + std::to_string(version) +
                                "; this library knows version " + std::to_string(kVersion));
  }
  PreparedRecord record;
  record.bytes = whole.size();
  std::uint64_t count = 0;
  if (!GetVarint64(&bytes, &count)) return Status::Corruption(where + ": the number of locks is cut off");
  for (std::uint64_t i = 0; i < count; ++i) {
    PreparedRecord::KeyLock lock;
    if (!GetLock(&bytes, &lock)) return Status::Corruption(where + ": lock " + std::to_string(i) + " is malformed");
    record.locks.push_back(lock);
  }
  CAMBIUM_RETURN_IF_ERROR(WriteBatch::FromData(bytes, &record.batch).WithContext(where));
  return record;
}

}  // namespace cambium

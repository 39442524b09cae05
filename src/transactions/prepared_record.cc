#include "transactions/prepared_record.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "index/key_for_message.h"
#include "util/coding.h"

namespace cambium {
namespace {

constexpr unsigned char kVersion = 1;
constexpr unsigned char kExclusive = 1;

bool GetFamily(Slice* in, PreparedRecord::FamilyName* family) {
  Slice name;
  if (!GetVarint32(in, &family->id) || !GetLengthPrefixed(in, &name)) return false;
  family->name = name.ToString();
  return true;
}

bool GetLock(Slice* in, PreparedRecord::KeyLock* lock) {
  unsigned char flags = 0;
  if (!GetVarint32(in, &lock->family) || !GetFixed(in, &flags) || !GetLengthPrefixed(in, &lock->key)) return false;
  lock->exclusive = flags == kExclusive;
  return flags <= kExclusive;
}

void PutBound(std::string* out, const KeyBound& bound) {
  PutFixed<unsigned char>(out, static_cast<unsigned char>(bound.at));
  if (bound.has_key()) PutLengthPrefixed(out, bound.key);
}

bool GetBound(Slice* in, KeyBound* bound) {
  unsigned char at = 0;
  if (!GetFixed(in, &at) || at > static_cast<unsigned char>(KeyBound::At::kLast)) return false;
  bound->at = static_cast<KeyBound::At>(at);
  Slice key;
  if (bound->has_key() && !GetLengthPrefixed(in, &key)) return false;
  bound->key = key.ToString();
  return true;
}

// A range begins with a key or with the first one, and ends with, before or after a key, or with the last one.
bool GetRange(Slice* in, PreparedRecord::RangeLock* lock) {
  unsigned char flags = 0;
  if (!GetVarint32(in, &lock->family) || !GetFixed(in, &flags)) return false;
  if (!GetBound(in, &lock->range.from) || !GetBound(in, &lock->range.to)) return false;
  lock->exclusive = flags == kExclusive;
  using At = KeyBound::At;
  const At from = lock->range.from.at;
  return flags <= kExclusive && (from == At::kFirst || from == At::kBefore) && lock->range.to.at != At::kFirst;
}

// Collects the families of a batch.
class FamiliesOfBatch final : public WriteBatch::Handler {
 public:
  explicit FamiliesOfBatch(std::set<std::uint32_t>* ids) : ids_(*ids) {}
  Status Put(Slice, Slice) override { return Status::OK(); }  // the functions below get all families
  Status Delete(Slice) override { return Status::OK(); }
  Status PutCF(std::uint32_t id, Slice, Slice) override { return Add(id); }
  Status DeleteCF(std::uint32_t id, Slice) override { return Add(id); }
  Status SingleDeleteCF(std::uint32_t id, Slice) override { return Add(id); }
  Status DeleteRangeCF(std::uint32_t id, Slice, Slice) override { return Add(id); }

 private:
  Status Add(std::uint32_t id) {
    ids_.insert(id);
    return Status::OK();
  }
  std::set<std::uint32_t>& ids_;
};

}  // namespace

Result<std::set<std::uint32_t>> FamiliesUsed(const PreparedRecord::Locks& locks, const WriteBatch& batch) {
  std::set<std::uint32_t> ids;
  for (const PreparedRecord::KeyLock& lock : locks.keys) ids.insert(lock.family);
  for (const PreparedRecord::RangeLock& lock : locks.ranges) ids.insert(lock.family);
  FamiliesOfBatch collect(&ids);
  CAMBIUM_RETURN_IF_ERROR(batch.Iterate(&collect));
  return ids;
}

std::string EncodePreparedRecord(const Id128& database_id, const std::vector<PreparedRecord::FamilyName>& families,
                                 const PreparedRecord::Locks& locks, const WriteBatch& batch) {
  std::size_t size = 1 + database_id.size() + 3 * kMaxVarint64Size + batch.GetDataSize();
  for (const PreparedRecord::FamilyName& family : families) size += 2 * kMaxVarint64Size + family.name.size();
  for (const PreparedRecord::KeyLock& lock : locks.keys) size += 1 + 2 * kMaxVarint64Size + lock.key.size();
  for (const PreparedRecord::RangeLock& lock : locks.ranges) {
    size += 3 + 3 * kMaxVarint64Size + lock.range.from.key.size() + lock.range.to.key.size();
  }
  std::string bytes;
  bytes.reserve(size);
  PutFixed<unsigned char>(&bytes, kVersion);
  bytes.append(reinterpret_cast<const char*>(database_id.data()), database_id.size());
  PutVarint64(&bytes, families.size());
  for (const PreparedRecord::FamilyName& family : families) {
    PutVarint64(&bytes, family.id);
    PutLengthPrefixed(&bytes, family.name);
  }
  PutVarint64(&bytes, locks.keys.size());
  for (const PreparedRecord::KeyLock& lock : locks.keys) {
    PutVarint64(&bytes, lock.family);
    PutFixed<unsigned char>(&bytes, lock.exclusive ? kExclusive : 0);
    PutLengthPrefixed(&bytes, lock.key);
  }
  PutVarint64(&bytes, locks.ranges.size());
  for (const PreparedRecord::RangeLock& lock : locks.ranges) {
    PutVarint64(&bytes, lock.family);
    PutFixed<unsigned char>(&bytes, lock.exclusive ? kExclusive : 0);
    PutBound(&bytes, lock.range.from);
    PutBound(&bytes, lock.range.to);
  }
  bytes += batch.Data();
  return bytes;
}

Result<PreparedRecord> DecodePreparedRecord(Slice name, Slice whole) {
  const std::string where = "prepared transaction " + KeyForMessage(name);
  Slice bytes = whole;
  unsigned char version = 0;
  if (!GetFixed(&bytes, &version)) return Status::Corruption(where + ": the record is empty");
  if (version != kVersion) {
    return Status::NotSupported(where + ": the record has version " + std::to_string(version) +
                                "; this library knows version " + std::to_string(kVersion));
  }
  PreparedRecord record;
  record.bytes = whole.size();
  if (bytes.size() < record.database_id.size()) {
    return Status::Corruption(where + ": the id of the database is cut off");
  }
  std::memcpy(record.database_id.data(), bytes.data(), record.database_id.size());
  bytes.remove_prefix(record.database_id.size());
  std::uint64_t count = 0;
  if (!GetVarint64(&bytes, &count)) return Status::Corruption(where + ": the number of families is cut off");
  std::set<std::uint32_t> named;
  for (std::uint64_t i = 0; i < count; ++i) {
    PreparedRecord::FamilyName family;
    if (!GetFamily(&bytes, &family)) {
      return Status::Corruption(where + ": family " + std::to_string(i) + " is malformed");
    }
    named.insert(family.id);
    record.families.push_back(std::move(family));
  }
  if (!GetVarint64(&bytes, &count)) return Status::Corruption(where + ": the number of locks is cut off");
  for (std::uint64_t i = 0; i < count; ++i) {
    PreparedRecord::KeyLock lock;
    if (!GetLock(&bytes, &lock)) return Status::Corruption(where + ": lock " + std::to_string(i) + " is malformed");
    record.locks.keys.push_back(lock);
  }
  if (!GetVarint64(&bytes, &count)) return Status::Corruption(where + ": the number of ranges is cut off");
  for (std::uint64_t i = 0; i < count; ++i) {
    PreparedRecord::RangeLock lock;
    if (!GetRange(&bytes, &lock)) return Status::Corruption(where + ": range " + std::to_string(i) + " is malformed");
    record.locks.ranges.push_back(std::move(lock));
  }
  CAMBIUM_RETURN_IF_ERROR(WriteBatch::FromData(bytes, &record.batch).WithContext(where));
  const Result<std::set<std::uint32_t>> used = FamiliesUsed(record.locks, record.batch);
  if (!used.ok()) return used.status().WithContext(where);
  if (!std::ranges::includes(named, *used)) return Status::Corruption(where + ": it uses a family without a name");
  return record;
}

}  // namespace cambium

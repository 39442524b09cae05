// Comparator: the order of keys, with the functions that a comparator of RocksDB implements.
#pragma once

#include <cstddef>
#include <string>

#include "cambium/comparator.h"
#include "cambium/rocksdb_names/rocksdb/slice.h"

namespace rocksdb::inline on_cambium {

// Must outlive every database that uses it. Its name is stored: an order that RocksDB's files and Cambium's have in
// common may have the same name in both. DB::Open refuses a comparator of keys with timestamps: NotSupported.
class Comparator {
 public:
  Comparator() = default;
  Comparator(std::size_t timestamp_size) : timestamp_size_(timestamp_size) {}  // NOLINT: implicit, as in RocksDB
  Comparator(const Comparator& other) : timestamp_size_(other.timestamp_size_) {}
  Comparator& operator=(const Comparator& other) {
    timestamp_size_ = other.timestamp_size_;
    return *this;
  }
  virtual ~Comparator() = default;

  [[nodiscard]] virtual const char* Name() const = 0;
  [[nodiscard]] virtual int Compare(const Slice& a, const Slice& b) const = 0;
  [[nodiscard]] virtual bool Equal(const Slice& a, const Slice& b) const { return Compare(a, b) == 0; }
  // Cambium never makes keys of its own, so it does not call these two.
  virtual void FindShortestSeparator(std::string* start, const Slice& limit) const = 0;
  virtual void FindShortSuccessor(std::string* key) const = 0;
  [[nodiscard]] virtual bool IsSameLengthImmediateSuccessor(const Slice& /*s*/, const Slice& /*t*/) const {
    return false;
  }
  // If true, filters, which compare bytes, are not used.
  [[nodiscard]] virtual bool CanKeysWithDifferentByteContentsBeEqual() const { return true; }
  [[nodiscard]] virtual const Comparator* GetRootComparator() const { return this; }
  [[nodiscard]] std::size_t timestamp_size() const { return timestamp_size_; }

  // The same order for Cambium; valid as long as this object.
  [[nodiscard]] const cambium::Comparator* OnCambium() const { return rep_; }

 private:
  friend class BuiltInComparator;
  explicit Comparator(const cambium::Comparator* rep) : rep_(rep) {}

  class Form final : public cambium::Comparator {
   public:
    explicit Form(const on_cambium::Comparator* user) : user_(user) {}
    [[nodiscard]] int Compare(Slice a, Slice b) const override { return user_->Compare(a, b); }
    [[nodiscard]] const char* Name() const override { return user_->Name(); }
    [[nodiscard]] bool EqualMeansSameBytes() const override {
      return !user_->CanKeysWithDifferentByteContentsBeEqual();
    }

   private:
    const on_cambium::Comparator* user_;
  };

  std::size_t timestamp_size_ = 0;
  Form form_{this};
  const cambium::Comparator* rep_ = &form_;
};

// Their names are RocksDB's, "leveldb.BytewiseComparator" and "rocksdb.ReverseBytewiseComparator". A database stores
// Cambium's names of the same orders.
[[nodiscard]] const Comparator* BytewiseComparator();
[[nodiscard]] const Comparator* ReverseBytewiseComparator();

}  // namespace rocksdb::inline on_cambium

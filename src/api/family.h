// Family: a column family while the database is open: its options, its index, and the work that is to be done for it.
// Its memory tables and layers are in the view.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "api/log_table.h"
#include "api/options_check.h"
#include "cambium/column_family.h"
#include "index/index.h"
#include "util/compression.h"

namespace cambium {

// What is known of a background job. Guarded by DbImpl::background_mutex_.
struct JobState {
  bool scheduled = false;
  bool again = false;        // asked for while it ran, when it may have looked already
  Status last;               // of its last run
  std::uint64_t ended = 0;   // how often it has run
};

struct Family {
  // `options` are checked, and page_size is the stored one.
  Family(std::uint32_t its_id, std::string its_name, const ColumnFamilyOptions& its_options)
      : id(its_id),
        name(std::move(its_name)),
        options(its_options),
        separate_from(SeparateFrom(its_options, its_options.page_size)),
        codec(CodecOf(its_options)),
        equal_by(its_options.comparator->EqualMeansSameBytes() ? nullptr : its_options.comparator),
        active(std::make_shared<LogTable>(its_options.comparator)) {}

  const std::uint32_t id;
  const std::string name;
  const ColumnFamilyOptions options;
  const std::uint64_t separate_from;  // bytes, see SeparateFrom
  const Codec codec;
  const Comparator* const equal_by;   // set if keys with other bytes may be equal
  std::unique_ptr<Index> index;       // set before anybody else sees the family; gone when the database is closed

  // Set under append_mutex_ and commit_mutex_, so that whoever holds one of them may rely on it.
  std::atomic<bool> dropped{false};

  std::shared_ptr<LogTable> active;   // append_mutex_; the one in the current view
  std::atomic<int> frozen_count{0};   // written under append_mutex_ or by the flush

  std::atomic<std::size_t> run_count{0};  // in the current layers, for writers who look without a lock

  JobState flush;                     // background_mutex_, as all below
  JobState merge;
  bool merging = false;               // an Index has one merge at a time

 private:
  static Codec CodecOf(const ColumnFamilyOptions& options) {
    Codec codec = Codec::kNone;
    static_cast<void>(cambium::CodecOf(options.blob_compression_type, &codec));  // checked before
    return codec;
  }
};

class FamilyHandle final : public ColumnFamilyHandle {
 public:
  FamilyHandle(const void* database, std::shared_ptr<Family> family)
      : database_(database), family_(std::move(family)) {}
  [[nodiscard]] const std::string& GetName() const override { return family_->name; }
  [[nodiscard]] std::uint32_t GetID() const override { return family_->id; }
  [[nodiscard]] const Comparator* GetComparator() const override { return family_->options.comparator; }
  Status GetDescriptor(ColumnFamilyDescriptor* descriptor) const override {
    *descriptor = {family_->name, family_->options};
    return Status::OK();
  }
  [[nodiscard]] const void* database() const { return database_; }  // whose it is
  [[nodiscard]] const std::shared_ptr<Family>& family() const { return family_; }

 private:
  const void* const database_;
  const std::shared_ptr<Family> family_;
};

}  // namespace cambium

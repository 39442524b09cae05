// CompactionFilter: a program's function that decides about values in compactions, with RocksDB's signatures. When it is
// asked, and what its answers do, is in cambium/compaction_filter.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cambium/compaction_filter.h"
#include "cambium/rocksdb_names/rocksdb/slice.h"
#include "cambium/rocksdb_names/rocksdb/types.h"

namespace rocksdb::inline on_cambium {

class CompactionFilter {
 public:
  // Only values occur here.
  enum ValueType { kValue, kMergeOperand, kBlobIndex, kWideColumnEntity };
  // kPurge is the same as kRemove. A job whose filter answers kChangeBlobIndex, kIOError or kChangeWideColumnEntity ends
  // with InvalidArgument.
  enum class Decision {
    kKeep,
    kRemove,
    kChangeValue,
    kRemoveAndSkipUntil,
    kChangeBlobIndex,
    kIOError,
    kPurge,
    kChangeWideColumnEntity,
    kUndetermined,
  };
  struct Context {
    bool is_full_compaction = false;
    bool is_manual_compaction = false;
    int input_start_level = kUnknownStartLevel;  // never known here
    std::uint32_t column_family_id = 0;
    TableFileCreationReason reason = TableFileCreationReason::kCompaction;

    static constexpr int kUnknownStartLevel = -1;
  };

  CompactionFilter() = default;
  CompactionFilter(const CompactionFilter&) {}
  CompactionFilter& operator=(const CompactionFilter&) { return *this; }
  virtual ~CompactionFilter() = default;

  virtual bool Filter(int /*level*/, const Slice& /*key*/, const Slice& /*existing_value*/, std::string* /*new_value*/,
                      bool* /*value_changed*/) const {
    return false;
  }
  // Never called: there are no merge operands.
  virtual bool FilterMergeOperand(int /*level*/, const Slice& /*key*/, const Slice& /*operand*/) const { return false; }
  virtual Decision FilterV2(int level, const Slice& key, ValueType /*type*/, const Slice& existing_value,
                            std::string* new_value, std::string* /*skip_until*/) const {
    bool is_changed = false;
    if (Filter(level, key, existing_value, new_value, &is_changed)) return Decision::kRemove;
    return is_changed ? Decision::kChangeValue : Decision::kKeep;
  }
  virtual Decision FilterBlobByKey(int /*level*/, const Slice& /*key*/, std::string* /*new_value*/,
                                   std::string* /*skip_until*/) const {
    return Decision::kUndetermined;
  }
  [[nodiscard]] virtual bool IgnoreSnapshots() const { return true; }
  [[nodiscard]] virtual const char* Name() const = 0;

  // The same filter for Cambium; valid as long as this object.
  [[nodiscard]] const cambium::CompactionFilter* OnCambium() const { return &form_; }

 private:
  class Form final : public cambium::CompactionFilter {
   public:
    explicit Form(const on_cambium::CompactionFilter* user) : user_(user) {}
    Decision FilterBlobByKey(int level, const Slice& key, std::string* new_value,
                             std::string* skip_until) const override {
      return Same(user_->FilterBlobByKey(level, key, new_value, skip_until));
    }
    Decision FilterV2(int level, const Slice& key, ValueType /*type*/, const Slice& existing_value,
                      std::string* new_value, std::string* skip_until) const override {
      return Same(user_->FilterV2(level, key, kValue, existing_value, new_value, skip_until));
    }
    [[nodiscard]] bool IgnoreSnapshots() const override { return user_->IgnoreSnapshots(); }
    [[nodiscard]] const char* Name() const override { return user_->Name(); }

   private:
    // The numbers are the same in both.
    static Decision Same(on_cambium::CompactionFilter::Decision answer) {
      if (answer == on_cambium::CompactionFilter::Decision::kPurge) return Decision::kRemove;
      return static_cast<Decision>(answer);
    }
    const on_cambium::CompactionFilter* user_;
  };
  Form form_{this};
};

class CompactionFilterFactory {
 public:
  virtual ~CompactionFilterFactory() = default;
  virtual std::unique_ptr<CompactionFilter> CreateCompactionFilter(const CompactionFilter::Context& context) = 0;
  [[nodiscard]] virtual const char* Name() const = 0;
};

}  // namespace rocksdb::inline on_cambium

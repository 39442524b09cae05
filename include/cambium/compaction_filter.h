// CompactionFilter: a user's say in what merges carry on. Whenever runs are merged (compactions of an LSM, sweeps into
// a tree, CompactRange), it is shown keys and values, and says which stay, which go and which change.
//
//   class Expired : public cambium::CompactionFilter {
//     Decision FilterV2(int, const Slice&, ValueType, const Slice& value, std::string*, std::string*) const override {
//       return value.starts_with("old") ? Decision::kRemove : Decision::kKeep;
//     }
//     const char* Name() const override { return "Expired"; }
//   };
//
// Names and meaning are RocksDB's; docs/OPTIONS.md has the differences.
//
// What is shown. The newest value of each key among what one merge brings together; never a deletion, and nothing that
// a deletion or a newer value hides there. A key may be shown more than once in its life, an old value of it while a
// newer one lies elsewhere among them; each answer holds for the value that was shown. Flushes and log GC ask nobody.
// CompactRange shows every key of its range that was written before it was called, once at least, if there is nothing
// else to merge too.
//
// What an answer does. It takes effect with the commit of the merge, as a whole: a crash or an error leaves all of it
// or nothing. What was removed does not let an older value of the key show through. A snapshot or an iterator that was
// there before that commit goes on seeing what it saw: filters need not mind them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cambium/slice.h"
#include "cambium/types.h"

namespace cambium {

// Called by background threads, and by the thread that calls CompactRange. By one thread at a time if a factory made it
// for a job; by several at once if it is ColumnFamilyOptions::compaction_filter. Within a job keys ascend.
//
// It must not call the database whose merge it is asked by, and must not throw: an exception ends the process. It may
// be slow, but its family's merges are as slow, and segments of the log that the merge may read stay until it ends. An
// answer that is not legal ends the merge with InvalidArgument, which changes nothing then and is tried again; so does
// an error in reading a value.
class CompactionFilter {
 public:
  enum class ValueType : unsigned char { kValue = 0 };  // there are no merge operands here

  enum class Decision : unsigned char {
    kKeep = 0,
    kRemove = 1,
    // *new_value takes the place of the value. Whether it is inline or separated, and compressed, is as for a write of
    // now.
    kChangeValue = 2,
    // The key, and all of this job's keys before *skip_until, are removed and not shown. kKeep if that is not beyond
    // the key. Where a job ends before that, the next one shows its keys again.
    kRemoveAndSkipUntil = 3,
    kUndetermined = 8,  // from FilterBlobByKey only: it takes the value to decide
  };

  // A job, for a factory.
  struct Context {
    // It takes all there is of the family; of a tree: it is a part of a CompactRange without bounds, whose steps
    // together do.
    bool is_full_compaction = false;
    bool is_manual_compaction = false;  // of CompactRange
    std::uint32_t column_family_id = 0;
    TableFileCreationReason reason = TableFileCreationReason::kCompaction;
  };

  virtual ~CompactionFilter() = default;

  // Before a separated value is read from the log: with any answer but kUndetermined it is not. Not called for inline
  // values. `level`, here and below: into which an LSM's keys go; 1 in a tree.
  virtual Decision FilterBlobByKey(int /*level*/, const Slice& /*key*/, std::string* /*new_value*/,
                                   std::string* /*skip_until*/) const {
    return Decision::kUndetermined;
  }

  // The decision. What the slices borrow lives until it returns. As it stands, Filter() decides.
  virtual Decision FilterV2(int level, const Slice& key, ValueType /*type*/, const Slice& existing_value,
                            std::string* new_value, std::string* /*skip_until*/) const {
    bool is_changed = false;
    if (Filter(level, key, existing_value, new_value, &is_changed)) return Decision::kRemove;
    return is_changed ? Decision::kChangeValue : Decision::kKeep;
  }

  // The same for filters that only remove, by answering true, or change, by *value_changed.
  virtual bool Filter(int /*level*/, const Slice& /*key*/, const Slice& /*existing_value*/, std::string* /*new_value*/,
                      bool* /*value_changed*/) const {
    return false;
  }

  // As in RocksDB today, where false is not supported: a job whose filter says so ends with NotSupported. Here
  // snapshots hold what they see, so there is nothing to ignore.
  [[nodiscard]] virtual bool IgnoreSnapshots() const { return true; }

  // For messages. Lives as long as the filter.
  [[nodiscard]] virtual const char* Name() const = 0;
};

// Makes a filter for each job: a compaction, or one step of a sweep or of CompactRange. Called by any thread, under the
// rules of the filters themselves.
class CompactionFilterFactory {
 public:
  virtual ~CompactionFilterFactory() = default;
  // Null: the job keeps everything. The filter goes when the job ends.
  virtual std::unique_ptr<CompactionFilter> CreateCompactionFilter(const CompactionFilter::Context& context) = 0;
  [[nodiscard]] virtual const char* Name() const = 0;
};

}  // namespace cambium

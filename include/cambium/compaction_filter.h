// CompactionFilter: a user's function that decides about each value in a compaction. Whenever runs are compacted
// (compactions of an LSM, sweeps into a tree, CompactRange), it is given keys and values, and says which are kept,
// removed or changed.
//
//   class Expired : public cambium::CompactionFilter {
//     Decision FilterV2(int, const Slice&, ValueType, const Slice& value, std::string*, std::string*) const override {
//       return value.starts_with("old") ? Decision::kRemove : Decision::kKeep;
//     }
//     const char* Name() const override { return "Expired"; }
//   };
//
// Names and meaning are RocksDB's; docs/OPTIONS.md lists the differences.
//
// When it is asked. A compaction asks about a key if the newest entry of the key in its input is a value, and gives
// this value. It does not ask about tombstones, nor about values that they hide. A key may be asked about more than
// once, and with an old value if a newer one is in a layer outside the input. Each answer applies to the value that was
// given. Flushes and log GC do not ask.
//
// CompactRange asks about every key of its range that was written before the call, even if there is nothing to compact.
// It asks once about each version of a key, even if the version passes through several levels, or log GC moves its
// value meanwhile. Background compactions that run during the call count too: the call does not ask about versions that
// they have asked about, nor do they ask about those of the call. A value that the filter has changed is not a new
// version, and is not asked about again. The call does ask about versions that were asked about before it began. If a
// compaction fails, or is given up because the call begins, its answers have no effect, and the filter is asked again.
// A family runs one such call at a time; a second one waits.
//
// What an answer does. All answers take effect together with the commit of the compaction: after a crash or an error
// either all of them hold or none. Removing a value does not bring back an older value of the key. Snapshots and
// iterators made before the commit still see what they saw: a filter need not consider them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cambium/slice.h"
#include "cambium/types.h"

namespace cambium {

// Called by background threads, and by the thread that calls CompactRange. A filter that a factory made for a job is
// called by one thread at a time; ColumnFamilyOptions::compaction_filter by several at once. Within a job keys ascend.
//
// A filter must not call its own database, and must not throw: an exception ends the process. It may be slow, but then
// its family's compactions are slow too, and log segments that the compaction may read are kept until it ends. An error
// in reading a value ends the compaction, and so does an illegal answer, with InvalidArgument. Then nothing is changed,
// and the compaction is tried again. If it fails ten times in a row, writes to the family fail too (see db.h).
class CompactionFilter {
 public:
  enum class ValueType : unsigned char { kValue = 0 };  // there are no merge operands here

  enum class Decision : unsigned char {
    kKeep = 0,
    kRemove = 1,
    // *new_value replaces the value. The new value is stored inline or separated, and compressed, as a value written
    // now would be.
    kChangeValue = 2,
    // Removes the key and all keys of this job before *skip_until; the filter is not asked about these. If *skip_until
    // is not greater than the key, this is kKeep. If a job ends before *skip_until, the next job asks about the rest.
    kRemoveAndSkipUntil = 3,
    kUndetermined = 8,  // from FilterBlobByKey only: the value is needed to decide
  };

  // Describes a job to a factory.
  struct Context {
    // True if the job compacts everything in the family; in a tree, if the job is a step of a CompactRange without
    // bounds, whose steps together compact everything.
    bool is_full_compaction = false;
    bool is_manual_compaction = false;  // by CompactRange
    std::uint32_t column_family_id = 0;
    TableFileCreationReason reason = TableFileCreationReason::kCompaction;
  };

  virtual ~CompactionFilter() = default;

  // Called before a separated value is read; the value is read only if the answer is kUndetermined. Not called for
  // inline values. `level`, here and below, is the level of an LSM that the keys are written to; 1 in a tree.
  virtual Decision FilterBlobByKey(int /*level*/, const Slice& /*key*/, std::string* /*new_value*/,
                                   std::string* /*skip_until*/) const {
    return Decision::kUndetermined;
  }

  // The decision. The slices are valid until it returns. By default Filter() decides.
  virtual Decision FilterV2(int level, const Slice& key, ValueType /*type*/, const Slice& existing_value,
                            std::string* new_value, std::string* /*skip_until*/) const {
    bool is_changed = false;
    if (Filter(level, key, existing_value, new_value, &is_changed)) return Decision::kRemove;
    return is_changed ? Decision::kChangeValue : Decision::kKeep;
  }

  // For simple filters: returns true to remove; sets *value_changed to change.
  virtual bool Filter(int /*level*/, const Slice& /*key*/, const Slice& /*existing_value*/, std::string* /*new_value*/,
                      bool* /*value_changed*/) const {
    return false;
  }

  // False is not supported, as in today's RocksDB: a job whose filter returns false ends with NotSupported. Here
  // snapshots hold what they see, so there is nothing to ignore.
  [[nodiscard]] virtual bool IgnoreSnapshots() const { return true; }

  // For messages. Valid as long as the filter.
  [[nodiscard]] virtual const char* Name() const = 0;
};

// Makes a filter for each job: a compaction, or one step of a sweep or of CompactRange. Called by any thread, under the
// rules for filters.
class CompactionFilterFactory {
 public:
  virtual ~CompactionFilterFactory() = default;
  // Null: the job keeps everything. The filter is destroyed when the job ends.
  virtual std::unique_ptr<CompactionFilter> CreateCompactionFilter(const CompactionFilter::Context& context) = 0;
  [[nodiscard]] virtual const char* Name() const = 0;
};

}  // namespace cambium

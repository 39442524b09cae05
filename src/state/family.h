// Family: a column family while the database is open: its options, its index, and the work that is to be done for it.
// Its memory tables and layers are in the view.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "state/cluster_walk.h"
#include "state/index_stats.h"
#include "state/log_table.h"
#include "options/options_check.h"
#include "state/scan_length.h"
#include "state/table_files.h"
#include "cambium/column_family.h"
#include "gc/scan_heat.h"
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

// A family's options, and what follows from them. Immutable.
struct OptionsInForce {
  explicit OptionsInForce(const ColumnFamilyOptions& its_options)
      : options(its_options), separate_from(SeparateFrom(its_options, its_options.page_size)) {
    static_cast<void>(CodecOf(options.blob_compression_type, &codec));  // checked before
  }
  const ColumnFamilyOptions options;
  const std::uint64_t separate_from;  // bytes, see SeparateFrom
  Codec codec = Codec::kNone;         // of separated values
};

struct Family {
  // `its_options` are checked, and page_size is the stored one.
  Family(std::uint32_t its_id, std::string its_name, const ColumnFamilyOptions& its_options)
      : id(its_id),
        name(std::move(its_name)),
        equal_by(its_options.comparator->EqualMeansSameBytes() ? nullptr : its_options.comparator),
        active(std::make_shared<LogTable>(its_options.comparator)),
        scan_heat(its_options.comparator) {
    ChangeOptions(its_options);
  }

  // The options of now, without a lock. The reference holds as long as the family; two calls may see different ones.
  [[nodiscard]] const OptionsInForce& in_force() const { return *in_force_.load(std::memory_order_acquire); }
  [[nodiscard]] const ColumnFamilyOptions& options() const { return in_force().options; }
  // Under families_mutex_, if anybody else sees the family. What cannot change while it is open is the same in both.
  void ChangeOptions(const ColumnFamilyOptions& next) {
    were_in_force_.push_back(std::make_unique<const OptionsInForce>(next));
    in_force_.store(were_in_force_.back().get(), std::memory_order_release);
  }

  const std::uint32_t id;
  const std::string name;
  const Comparator* const equal_by;   // set if keys with other bytes may be equal
  std::unique_ptr<Index> index;       // set before anybody else sees the family; gone when the database is closed

  // Set under append_mutex_ and commit_mutex_, so that whoever holds one of them may rely on it.
  std::atomic<bool> dropped{false};
  // Under the same locks: a drop failed, and nobody knows whether its record has reached the disk.
  std::atomic<bool> drop_in_doubt{false};

  std::shared_ptr<LogTable> active;   // append_mutex_; the one in the current view
  std::atomic<int> frozen_count{0};   // written under append_mutex_ or by the flush

  std::atomic<std::size_t> run_count{0};  // in the current layers, for writers who look without a lock

  // Estimates, for gc/space.h. Bytes of records that newer entries hide and the accounts still count; bytes of an LSM's files
  // that hidden entries take; the part of the last flush's keys that the layers had.
  std::atomic<std::int64_t> hidden_bytes{0};
  std::atomic<std::int64_t> hidden_index_bytes{0};
  std::atomic<double> replaced_share{0};
  // Any run is reason enough for a merge; and where none is left, levels above the last one are. `squeeze` is the request
  // for these, held by whoever has claimed the merge.
  std::atomic<bool> merges_urgently{false};
  std::optional<CompactionRequest> squeeze;
  std::uint64_t flushes_before_squeeze = 0;  // its merge is claimed; of `flush.ended`

  // Whoever has claimed the merge notes here what its index makes; null: nobody.
  TableFiles* merge_files = nullptr;

  IndexStats index_stats;
  ScanLength scan_length;
  mutable ScanHeat scan_heat;         // with ValueClustering::kAuto
  ClusterPass pass;                   // commit_mutex_; with ValueClustering::kFull

  JobState flush;                     // background_mutex_, as all below
  JobState merge;
  bool merging = false;               // an Index has one merge at a time
  std::uint64_t merges_ended = 0;     // how often that has become false

 private:
  // Kept until the family goes, since somebody may still look at them: options change seldom, and are small.
  std::vector<std::unique_ptr<const OptionsInForce>> were_in_force_;  // families_mutex_
  std::atomic<const OptionsInForce*> in_force_{nullptr};
};

class FamilyHandle final : public ColumnFamilyHandle {
 public:
  FamilyHandle(const void* database, std::shared_ptr<Family> family)
      : database_(database), family_(std::move(family)) {}
  [[nodiscard]] const std::string& GetName() const override { return family_->name; }
  [[nodiscard]] std::uint32_t GetID() const override { return family_->id; }
  [[nodiscard]] const Comparator* GetComparator() const override { return family_->options().comparator; }
  Status GetDescriptor(ColumnFamilyDescriptor* descriptor) const override {
    *descriptor = {family_->name, family_->options()};
    return Status::OK();
  }
  [[nodiscard]] const void* database() const { return database_; }  // whose it is
  [[nodiscard]] const std::shared_ptr<Family>& family() const { return family_; }

 private:
  const void* const database_;
  const std::shared_ptr<Family> family_;
};

}  // namespace cambium

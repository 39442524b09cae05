// Families: creates and drops column families, changes options, and writes the OPTIONS file, which records the options
// in force. One of these calls runs at a time, under the families lock, which is taken before the append and the commit
// lock.
//
// families.cc creates and drops families; options.cc changes options and writes the OPTIONS files.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/options_additions.h"
#include "cambium/column_family.h"
#include "cambium/options.h"
#include "options/options_file.h"
#include "state/db_state.h"
#include "upkeep/compact/compactor.h"
#include "state/lock_roles.h"
#include "util/mutex.h"

namespace cambium {

class Families {
 public:
  Families(DbState* state, Compactor* compactor);

  // ---- Creating and dropping ----

  // Creates empty families in one commit; when it returns, they are durable and in the view. Returns their handles in
  // the database whose facade is `facade`. The handles are made before the commit; after it nothing throws.
  Result<std::vector<std::unique_ptr<FamilyHandle>>> Create(const void* facade, const ColumnFamilyOptions& options,
                                                            std::span<const std::string> names)
      CAMBIUM_EXCLUDES(families_lock);
  // Does the same for checked options and names; the caller writes the OPTIONS file. `prepare` is called with each
  // family before the commit.
  using Prepare = std::function<void(const std::shared_ptr<Family>&)>;
  Status Make(std::span<const ColumnFamilyDescriptor* const> wanted, const Prepare& prepare = nullptr)
      CAMBIUM_REQUIRES(families_lock);
  Status Drop(Family* family) CAMBIUM_EXCLUDES(families_lock);
  // Makes the index of a family, without layers.
  [[nodiscard]] std::unique_ptr<Index> MakeIndex(Family* family);
  // Adds the family, with its layers, to the view and the jobs.
  void Add(const std::shared_ptr<Family>& family, std::shared_ptr<const Layers> layers);

  // ---- Options ----

  [[nodiscard]] DBOptions DbOptions() const;
  Status SetOptions(Family* family, const std::unordered_map<std::string, std::string>& changes)
      CAMBIUM_EXCLUDES(families_lock);
  Status SetDbOptions(const std::unordered_map<std::string, std::string>& changes) CAMBIUM_EXCLUDES(families_lock);

  // ---- The OPTIONS file ----

  // Writes the file, unless the newest one says the same. Lack of space is not an error.
  Status PersistAtOpen() CAMBIUM_EXCLUDES(families_lock);
  // Writes the file for an offline compaction, because an offline Open does not write it. The file records the options
  // in force, and which properties of its form a value keeps when it is relocated (`kept`).
  Status PersistOffline(KeptForm kept, const std::vector<std::uint64_t>& segments) CAMBIUM_EXCLUDES(families_lock);
  // The text of the file.
  [[nodiscard]] std::string Text(KeptForm kept) const;

 private:
  friend class FamiliesLock;
  Status CheckOptions(const ColumnFamilyOptions& options) const;
  Status CheckSegmentSize(const ColumnFamilyOptions& options) const;  // of a family that is not the default one
  // Commit the creation of families, or the drop of one.
  Status CommitCreation(std::span<const ColumnFamilyDescriptor* const> wanted, const Prepare& prepare);
  Status CommitDrop(Family* family, std::vector<NumberedFile>* files);
  static void AddTo(View* view, const std::shared_ptr<Family>& family, std::shared_ptr<const Layers> layers);
  void FreeSpaceOfDropped();
  struct Resized {
    std::shared_ptr<Family> family;
    std::unique_ptr<const OptionsInForce> options;
  };
  // Makes options with segments of this size for all families but one.
  [[nodiscard]] std::vector<Resized> WithSegmentsOf(std::uint64_t bytes, const Family& but) const
      CAMBIUM_REQUIRES(families_lock);
  // Schedules what changed options may need, and persists them. Returns `lost` after an exception. `changed`: the
  // family whose options have changed; null: those of the database.
  Status EndChange(const std::shared_ptr<Family>& changed, Status lost) CAMBIUM_REQUIRES(families_lock);
  [[nodiscard]] static Status Interrupted();
  // Persist that families were created or dropped. An error is only logged, unless it is fatal. Throws nothing.
  void PersistFamilies(FamilyChanges changes) CAMBIUM_REQUIRES(families_lock);
  void ForgetFiles() noexcept CAMBIUM_REQUIRES(families_lock);
  Status PersistAddition(FamilyChanges changes) CAMBIUM_REQUIRES(families_lock);
  [[nodiscard]] std::string TextOf(const OptionsAdditions::Addition& addition) const;
  Status WriteFile(std::uint64_t number, const std::string& text);
  // Remove OPTIONS files that are not needed any more. If one cannot be removed, the next whole file removes it.
  void RemoveFiles(const std::vector<std::uint64_t>& numbers) CAMBIUM_REQUIRES(families_lock);
  void KeepsOldFile(const Status& removed) CAMBIUM_REQUIRES(families_lock);
  Status Persist(KeptForm kept = {}) CAMBIUM_REQUIRES(families_lock);
  [[nodiscard]] std::uint64_t NewestFile() const;  // the number of the newest OPTIONS file; 0 if there is none
  [[nodiscard]] std::optional<KeptForm> Persisted() CAMBIUM_REQUIRES(families_lock);
  [[nodiscard]] bool IsPersistedWith(KeptForm most) CAMBIUM_REQUIRES(families_lock);

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  Compactor& compactor_;
  const std::shared_ptr<Family>& default_family_;
  mutable Mutex mutex_;
  OptionsAdditions additions_ CAMBIUM_GUARDED_BY(families_lock);
  // The whole OPTIONS file before the newest one, which is kept. 0: none.
  std::uint64_t previous_file_ CAMBIUM_GUARDED_BY(families_lock) = 0;
  // True if there are no OPTIONS files other than additions_ and previous_file_. If false, the directory is listed
  // after the next whole file is written, to remove all others.
  bool knows_old_files_ CAMBIUM_GUARDED_BY(families_lock) = false;
};

// Holds the families lock for its lifetime.
class CAMBIUM_SCOPED_CAPABILITY FamiliesLock {
 public:
  explicit FamiliesLock(const Families& families) CAMBIUM_ACQUIRE(families_lock)
      CAMBIUM_NO_THREAD_SAFETY_ANALYSIS("takes the mutex that has the role")
      : lock_(families.mutex_) {}
  ~FamiliesLock() CAMBIUM_RELEASE() {}
  FamiliesLock(const FamiliesLock&) = delete;
  FamiliesLock& operator=(const FamiliesLock&) = delete;

 private:
  const MutexLock lock_;
};

}  // namespace cambium

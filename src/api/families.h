// Families: creating and dropping column families, changing options, and the OPTIONS file that says which are in force: one
// of these at a time, under the families mutex, which is taken before all others.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cambium/column_family.h"
#include "cambium/options.h"
#include "options/options_file.h"
#include "state/db_state.h"
#include "upkeep/compactor.h"
#include "util/mutex.h"

namespace cambium {

class Families {
 public:
  Families(DbState* state, Compactor* compactor);

  Mutex& mutex() const CAMBIUM_RETURN_CAPABILITY(mutex_) { return mutex_; }

  // ---- Creating and dropping ----

  // A family without data, durable and in the view.
  Result<std::shared_ptr<Family>> Create(const ColumnFamilyOptions& options, const std::string& name)
      CAMBIUM_EXCLUDES(mutex_);
  // The same for Open, which writes the OPTIONS file afterwards.
  Result<std::shared_ptr<Family>> Make(const ColumnFamilyOptions& options, const std::string& name)
      CAMBIUM_REQUIRES(mutex_);
  Status Drop(Family* family) CAMBIUM_EXCLUDES(mutex_);
  // The index of a family, without layers.
  [[nodiscard]] std::unique_ptr<Index> MakeIndex(Family* family);
  // The family, with its layers, joins the view and the jobs.
  void Add(const std::shared_ptr<Family>& family, std::shared_ptr<const Layers> layers);

  // ---- Options ----

  [[nodiscard]] DBOptions DbOptions() const;
  Status SetOptions(Family* family, const std::unordered_map<std::string, std::string>& changes)
      CAMBIUM_EXCLUDES(mutex_);
  Status SetDbOptions(const std::unordered_map<std::string, std::string>& changes) CAMBIUM_EXCLUDES(mutex_);

  // ---- The OPTIONS file ----

  // Writes one unless the newest says the same. It is no error if there is no space for it.
  Status PersistAtOpen() CAMBIUM_EXCLUDES(mutex_);
  // For an offline compaction, which Open leaves the file to: what is in force, and how much of its form a value keeps when
  // it is moved.
  Status PersistOffline(KeptForm kept, const std::vector<std::uint64_t>& segments) CAMBIUM_EXCLUDES(mutex_);
  // The text of the file.
  [[nodiscard]] std::string Text(KeptForm kept) const;

 private:
  Status CheckOptions(const ColumnFamilyOptions& options) const;
  // The commit that creates, or drops, a family.
  Status CommitCreation(const ColumnFamilyOptions& options, const std::string& name, std::shared_ptr<Family>* family);
  Status CommitDrop(Family* family, std::vector<NumberedFile>* files);
  void FreeSpaceOfDropped();
  // All families have the same size of segments.
  void ResizeSegments(std::uint64_t bytes) CAMBIUM_REQUIRES(mutex_);
  Status PersistChange() CAMBIUM_REQUIRES(mutex_);
  void PersistFamilies() CAMBIUM_REQUIRES(mutex_);
  Status Persist(KeptForm kept = {}) CAMBIUM_REQUIRES(mutex_);
  [[nodiscard]] std::uint64_t NewestFile() const;  // its number; 0: there is none
  [[nodiscard]] bool IsPersisted(KeptForm kept) const;
  [[nodiscard]] bool IsPersistedWith(KeptForm most) const;

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  Compactor& compactor_;
  const std::shared_ptr<Family>& default_family_;
  mutable Mutex mutex_;
};

}  // namespace cambium

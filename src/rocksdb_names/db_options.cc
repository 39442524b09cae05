// The options of an open database, and what LOG says about them.
#include <algorithm>
#include <utility>

#include "cambium/logger.h"
#include "rocksdb_names/db_rep.h"
#include "rocksdb_names/hints.h"
#include "rocksdb_names/hints_file.h"
#include "rocksdb_names/to_cambium.h"
#include "util/result.h"

namespace rocksdb::inline on_cambium {
namespace {

const std::string& NameOf(const ColumnFamilyHandle* family) {
  return family == nullptr ? kDefaultColumnFamilyName : family->GetName();
}

}  // namespace

void DB::Tell(const std::vector<std::string>& hints) const {
  std::vector<std::string> names = hints;
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::shared_ptr<cambium::Logger> log = OnCambium()->GetOptions().info_log;
  if (names.empty() || log == nullptr) return;
  std::string line = "These options of RocksDB have no effect here:";
  for (const std::string& each : names) line += " " + each + ";";
  line.pop_back();
  log->Log(cambium::InfoLogLevel::kInfo, line);
}

// Only LoadLatestOptions needs the file, so an error does not fail the call.
void DB::SaveHints() {
  if (rep_->is_read_only) return;
  const cambium::Options its = OnCambium()->GetOptions();
  Status saved;
  {
    const cambium::MutexLock lock(rep_->mutex);
    saved = WriteHintsFile(FilesOf(its), rep_->path, rep_->options, rep_->families);
  }
  if (!saved.ok() && its.info_log != nullptr) {
    its.info_log->Log(cambium::InfoLogLevel::kWarn, "the options of RocksDB were not saved: " + saved.ToString());
  }
}

Options DB::GetOptions(ColumnFamilyHandle* family) const {
  const cambium::Options its = OnCambium()->GetOptions(family);
  Options options;
  {
    const cambium::MutexLock lock(rep_->mutex);
    static_cast<DBOptions&>(options) = rep_->options;
    const auto found = rep_->families.find(NameOf(family));
    if (found != rep_->families.end()) static_cast<ColumnFamilyOptions&>(options) = found->second;
  }
  options.DBOptions::Same() = its;
  const Comparator* const comparator = options.comparator;
  // The family's comparator is the stored one, unless the family was dropped: then any comparator will do.
  if (!FromCambium(its, {comparator}, &options).ok()) options.comparator = comparator;
  return options;
}

// As in RocksDB, a call without any option fails. A call that has only hints succeeds.
Status DB::SetOptions(ColumnFamilyHandle* family, const std::unordered_map<std::string, std::string>& changes) {
  std::unordered_map<std::string, std::string> same;
  std::vector<std::string> hints;
  ColumnFamilyOptions trial;
  for (const auto& [name, text] : changes) {
    const Status set = SetHint(&trial, name, text);
    if (set.IsNotFound()) {
      same[name] = text;
    } else {
      CAMBIUM_RETURN_IF_ERROR(set);
      hints.push_back(name);
    }
  }
  if (!same.empty() || changes.empty()) CAMBIUM_RETURN_IF_ERROR(OnCambium()->SetOptions(family, same));
  if (hints.empty()) return Status::OK();
  {
    const cambium::MutexLock lock(rep_->mutex);
    const auto found = rep_->families.find(NameOf(family));
    if (found == rep_->families.end()) return Status::ColumnFamilyDropped(NameOf(family));
    for (const std::string& each : hints) CAMBIUM_RETURN_IF_ERROR(SetHint(&found->second, each, changes.at(each)));
  }
  Tell(hints);
  SaveHints();
  return Status::OK();
}

Status DB::SetDBOptions(const std::unordered_map<std::string, std::string>& changes) {
  std::unordered_map<std::string, std::string> same;
  std::vector<std::string> hints;
  DBOptions trial;
  for (const auto& [name, text] : changes) {
    const Status set = SetHint(&trial, name, text);
    if (set.IsNotFound()) {
      same[name] = text;
    } else {
      CAMBIUM_RETURN_IF_ERROR(set);
      hints.push_back(name);
    }
  }
  if (!same.empty() || changes.empty()) CAMBIUM_RETURN_IF_ERROR(OnCambium()->SetDBOptions(same));
  if (hints.empty()) return Status::OK();
  {
    const cambium::MutexLock lock(rep_->mutex);
    for (const std::string& each : hints) CAMBIUM_RETURN_IF_ERROR(SetHint(&rep_->options, each, changes.at(each)));
  }
  Tell(hints);
  SaveHints();
  return Status::OK();
}

}  // namespace rocksdb::inline on_cambium

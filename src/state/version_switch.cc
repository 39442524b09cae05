#include "state/version_switch.h"

#include <string>

namespace cambium {

// No flush of the family commits meanwhile. So its layers have exactly the operations up to flushed_sequence. A flush
// that is under way without versions begins again: see TableFlush::Stage.
Status VersionSwitch::Begin(const Family& family) const {
  if (db_.read_only) {
    return Status::NotSupported("column family \"" + family.name +
                                "\" keeps no versions yet, and a database that is open for reading only cannot begin to");
  }
  SequenceNumber since = 0;
  {
    const CommitLock lock(commits_);
    if (family.KeepsVersions()) return Status::OK();
    const auto state = commits_.state().families.find(family.id);
    if (state == commits_.state().families.end()) return DroppedStatus(family);
    since = state->second.flushed_sequence;
    FamilyEdit change;
    change.id = family.id;
    change.versions_since = since;
    Edit edit;
    edit.families.push_back(std::move(change));
    CAMBIUM_RETURN_IF_ERROR(commits_.Commit(&edit));
    family.versions_since.store(since, std::memory_order_release);
  }
  db_.logger->Log(InfoLogLevel::kInfo, "column family \"" + family.name + "\" keeps versions of operations after " +
                                           std::to_string(since));
  return Status::OK();
}

}  // namespace cambium

#include "upkeep/await_removal.h"

namespace cambium {

Status AwaitRemoval(DbContext& db, CommitPoint* commits, Jobs* jobs) {
  const Status removed = commits->RemoveObsolete();
  if (!removed.ok()) db.logger->Log(InfoLogLevel::kWarn, "could not remove files: " + removed.ToString());
  return jobs->WaitUntil(
      [jobs]() CAMBIUM_REQUIRES(jobs_lock) { return !jobs->StateOf(Job::kRemove, nullptr)->under_way; });
}

}  // namespace cambium

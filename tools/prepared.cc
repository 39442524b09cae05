#include "prepared.h"

#include <algorithm>

#include "database.h"
#include "manifest/features.h"

namespace cambium::tool {

Status FindPrepared(const std::string& directory, const std::vector<std::string>& families,
                    std::vector<PreparedTransaction>* prepared) {
  prepared->clear();
  if (std::ranges::find(families, kPreparedFamilyName) == families.end()) return Status::OK();
  Database database;
  if (Status opened = database.OpenToRead(directory); !opened.ok()) return opened;
  Status listed = ListPreparedTransactions(database.db(), prepared);
  const Status closed = database.Close();
  return listed.ok() ? closed : listed;
}

}  // namespace cambium::tool

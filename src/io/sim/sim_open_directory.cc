#include "io/sim/sim_open_directory.h"

#include <algorithm>

#include "io/opened_prefix.h"

namespace cambium {
namespace {

// A directory that was removed has no path. This one does not exist.
constexpr char kRemoved[] = "/(a removed directory)";

}  // namespace

Status SimOpenDirectory::Open(SimFileSystem* file_system, Roots roots, const std::string& directory,
                              const std::string& place, std::shared_ptr<FileSystem>* opened) {
  SimInodeId id = 0;
  if (Status entered = file_system->EnterDirectory(place, &id); !entered.ok()) return entered;
  roots.push_back(std::make_shared<const Root>(file_system, id, directory));
  *opened = std::make_shared<SimOpenDirectory>(file_system, std::move(roots));
  return Status::OK();
}

std::string SimOpenDirectory::Now(const std::string& path) const {
  const Opened<Root> found = FindOpened(roots_, path, /*is_name=*/false);
  if (found.directory == nullptr) return path;
  const std::string now = found.directory->PathNow();
  if (now == found.directory->path()) return path;
  return (now.empty() ? kRemoved : now) + "/" + found.rest;
}

std::string SimOpenDirectory::NameNow(const std::string& path) const {
  const Opened<Root> found = FindOpened(roots_, path, /*is_name=*/true);
  if (found.directory == nullptr) return path;
  const std::string now = found.directory->PathNow();
  if (now == found.directory->path()) return path;
  return (now.empty() ? kRemoved : now) + "/" + found.rest;
}

}  // namespace cambium

#include "fuzz/target.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace cambium::fuzz {
namespace {

const Target* const kTargets[] = {
    &kManifestTarget, &kPageTarget,         &kLogTarget,   &kFooterTarget,       &kRunTarget,
    &kOptionsTarget,  &kBatchTarget,        &kTraceTarget, &kBackupRecordTarget, &kJsonlTarget,
    &kDatabaseTarget, &kRocksDbBatchTarget, &kSalvageTarget, &kPreparedTarget};

// Errors about two files, or a file and the MANIFEST, that contradict each other, although each is sound by itself.
// They name a number, a slot or the keys instead of a file.
const char* const kBetweenFiles[] = {
    "index page in file ",             // a parent refers to a file that is not part of the index
    "an index entry points to slot ",  // no segment has the slot
    "keys out of order: ",             // between the runs and the tree of a sweep
    "the tree and the runs of a sweep both refer to one value",
};

}  // namespace

void Promise(bool holds, const std::string& what) {
  if (!holds) throw BrokenPromise(what);
}

void PromiseDamage(const Status& s, const std::string& file, const std::string& what) {
  Promise(s.IsCorruption() || s.IsNotSupported() || s.IsInvalidArgument(),
          what + ": not an error of damage: " + s.ToString());
  bool names_place = s.message().find(file) != std::string_view::npos;
  for (const char* const contradiction : kBetweenFiles) {
    names_place = names_place || s.message().find(contradiction) != std::string_view::npos;
  }
  Promise(names_place, what + ": does not name " + file + ": " + s.ToString());
}

std::span<const Target* const> Targets() { return kTargets; }

const Target* FindTarget(const std::string& name) {
  for (const Target* const target : kTargets) {
    if (target->name == name) return target;
  }
  return nullptr;
}

std::vector<std::string> SeedsOf(const Target& target, const std::string& directory) {
  std::set<std::string> paths;  // sorted: the order of the seeds is always the same
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    if (file.path().extension() == ".golden" || file.path().extension() == ".trace") paths.insert(file.path().string());
  }
  std::vector<std::string> seeds;
  for (const std::string& path : paths) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const GoldenFiles files =
        path.ends_with(".trace") ? GoldenFiles{{"golden.trace", bytes}} : testing::UnpackGolden(bytes);
    Promise(!files.empty(), path + " is not an archive");
    target.add_seeds(files, &seeds);
  }
  Promise(!seeds.empty(), std::string(target.name) + " has no seeds in " + directory);
  return seeds;
}

std::vector<std::string> FilesWith(const GoldenFiles& files, const std::string& suffix) {
  std::vector<std::string> found;
  for (const auto& [name, bytes] : files) {
    if (name.ends_with(suffix)) found.push_back(bytes);
  }
  return found;
}

}  // namespace cambium::fuzz

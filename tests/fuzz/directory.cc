#include "fuzz/directory.h"

#include <cstdio>
#include <cstdlib>

#include "io/sim/sim_clock.h"
#include "io/sim/sim_random_source.h"
#include "manifest/manifest_reader.h"
#include "util/manual_executor.h"
#include "util/result.h"

namespace cambium::fuzz {
namespace {

Options SmallOptionsOn(const std::shared_ptr<SimFileSystem>& fs) {
  const auto executor = std::make_shared<ManualExecutor>();
  executor->OnNothingToRun([] {
    std::fprintf(stderr, "a call waits, but no task is left that could wake it\n");
    std::abort();
  });
  Options options;
  options.file_system = fs;
  options.clock = std::make_shared<SimClock>();
  options.random_source = std::make_shared<SimRandomSource>(7);
  options.executor = executor;
  options.info_log = NullLogger();
  options.page_size = 512;
  options.page_cache_size = 1u << 20;
  options.write_buffer_size = 16u << 10;
  options.max_total_wal_size = 256u << 10;
  options.min_space_limit = 0;
  options.min_blob_size = 64;
  options.blob_file_size = 32u << 10;
  options.large_value_size = 8u << 10;
  return options;
}

const Comparator* OrderOf(const std::string& name) {
  return name == ReverseBytewiseComparator()->Name() ? ReverseBytewiseComparator() : BytewiseComparator();
}

Status ReadFamily(DB* db, ColumnFamilyHandle* family, bool is_sound, Contents* contents) {
  const Comparator* const order = family->GetComparator();
  const std::string prefix = family->GetName() + "/";
  const std::unique_ptr<Iterator> it(db->NewIterator({}, family));
  std::string last;
  std::size_t forward = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++forward) {
    const std::string key = it->key().ToString();
    Promise(forward == 0 || order->Compare(last, key) < 0,
            "a scan gives keys that are not in order: " + Slice(last).ToString(true) + ", then " +
                Slice(key).ToString(true));
    last = key;
    (*contents)[prefix + key] = it->value().ToString();
    if (!it->status().ok()) return it->status();
    std::string value;
    const Status got = db->Get({}, family, key, &value);
    if (!got.ok() && !got.IsNotFound()) return got;
    Promise(!is_sound || (got.ok() && value == (*contents)[prefix + key]), "Get and a scan give different values");
  }
  CAMBIUM_RETURN_IF_ERROR(it->status());
  std::size_t backward = 0;
  for (it->SeekToLast(); it->Valid(); it->Prev(), ++backward) {
    const std::string key = it->key().ToString();
    Promise(backward == 0 || order->Compare(key, last) < 0,
            "a scan backwards gives keys that are not in order: " + Slice(last).ToString(true) + ", then " +
                Slice(key).ToString(true));
    last = key;
    Promise(!is_sound || contents->contains(prefix + key), "a scan backwards gives another key");
  }
  CAMBIUM_RETURN_IF_ERROR(it->status());
  Promise(!is_sound || forward == backward, "a scan backwards gives another number of keys");
  return Status::OK();
}

}  // namespace

Directory::Directory(const GoldenFiles& files) : fs(std::make_shared<SimFileSystem>()), options(SmallOptionsOn(fs)) {
  for (const auto& [name, bytes] : files) {
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos) {
      continue;
    }
    const Status s = fs->tampering().WriteContents(kDirectory + ("/" + name), bytes);
    Promise(s.ok(), "a file of the input cannot be made: " + s.ToString());
  }
}

Directory::Directory(const SimImage& image) : fs(std::make_shared<SimFileSystem>(image)), options(SmallOptionsOn(fs)) {}

std::vector<ColumnFamilyDescriptor> Directory::Families(const std::string& path) const {
  std::vector<ColumnFamilyDescriptor> families;
  const Result<ManifestRead> read = ReadManifest(*fs, path);
  if (!read.ok()) return {{kDefaultColumnFamilyName, options}};
  bool has_default = false;
  for (const auto& [id, family] : read->state.families) {
    has_default = has_default || family.name == kDefaultColumnFamilyName;
    families.emplace_back(family.name, options);
    families.back().options.comparator = OrderOf(family.comparator);
    families.back().options.index_type = static_cast<IndexKind>(family.index_type);
  }
  if (!has_default)
    families.emplace_back(kDefaultColumnFamilyName, options);  // Open needs it; a forged name may hide it
  return families;
}

bool Directory::VerifiesClean(const std::string& path) const {
  const Directory copy(fs->Snapshot());
  VerifyReport report;
  const Status s = VerifyDB(path, copy.options, copy.Families(path), {.deep = true}, &report);
  if (!s.ok()) PromiseDamage(s, "", "verifying a database");
  return s.ok() && report.problems.empty();
}

OpenDatabase::~OpenDatabase() {
  for (ColumnFamilyHandle* const handle : handles) delete handle;
}

Status OpenDatabase::Close() {
  for (ColumnFamilyHandle* const handle : handles) delete handle;
  handles.clear();
  const Status s = db->Close();
  db.reset();
  return s;
}

Status OpenAll(const Directory& directory, const std::string& path, OpenFor purpose, OpenDatabase* opened) {
  const std::vector<ColumnFamilyDescriptor> families = directory.Families(path);
  return purpose == OpenFor::kReading
             ? DB::OpenForReadOnly(directory.options, path, families, &opened->handles, &opened->db)
             : DB::Open(directory.options, path, families, &opened->handles, &opened->db);
}

Status ReadEverything(const OpenDatabase& opened, bool is_sound, Contents* contents) {
  for (ColumnFamilyHandle* const family : opened.handles) {
    CAMBIUM_RETURN_IF_ERROR(ReadFamily(opened.db.get(), family, is_sound, contents));
  }
  return Status::OK();
}

}  // namespace cambium::fuzz

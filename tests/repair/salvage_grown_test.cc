// Tests salvage of databases with a history: families of both indexes, values that log GC relocated, holes, trees in
// the middle of a sweep. Each file gets each kind of damage of the corruption matrix, and calls that open or read it
// fail.
//
// The undamaged files say what must be recovered. For each key they say where its value is, and which layer refers to
// it.
//
//   the value is not in the damaged file                     it is recovered, at least as unproven
//   and neither its layer nor a newer one is damaged         it is recovered as proven
//   any damage                                               nothing old, deleted or never written is proven; missing
//                                                            entries are reported
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cambium/repair.h"
#include "repair/found_files.h"
#include "repair/leaf_scan.h"
#include "testing/damage.h"
#include "testing/grown_subject.h"
#include "testing/seed.h"
#include "vlog/segment_scanner.h"

namespace cambium::testing::salvage_grown_test {
namespace {

using grown::Model;
using grown::Models;
using grown::Subject;

constexpr const char* kOutPath = "/out";

const Comparator* OrderOf(const std::string& family) {
  return family == "third" ? ReverseBytewiseComparator() : BytewiseComparator();
}

// ---- The undamaged files ----

struct Place {
  std::string layer;             // the index file with the newest entry; empty: only the log's tail has it
  std::size_t depth = 0;         // depth of the layer; 0 is the newest
  std::string value;             // the file that has the value: the one that the entry refers to, or the layer
  std::set<std::string> copies;  // all files that have the value
};

struct Layers {
  std::map<std::string, std::size_t> depths;  // depth of each index file
  std::set<std::string> swept;                // files whose keys below the cursor are in the tree
  std::string cursor;
};

class Map {
 public:
  explicit Map(const Subject& subject) : subject_(subject), fs_(subject.image), state_(grown::StateOf(subject.image)) {
    for (const auto& [id, family] : state_.families) names_[id] = family.name;
    const Result<std::vector<FoundFile>> files = FindFiles(fs_, kStorePath);
    EXPECT_TRUE(files.ok());
    for (const FoundFile& file : *files) {
      if (file.name.kind == FileKind::kLog || file.name.kind == FileKind::kRelocation) TakeRecords(file);
      if (file.name.kind == FileKind::kLargeValue) TakeLarge(file);
    }
    for (const auto& [id, family] : state_.families) TakeLayers(family, *files);
  }

  [[nodiscard]] const Place& of(const std::string& family, const std::string& key) const {
    return places_.at({family, key});
  }
  [[nodiscard]] const Layers& layers(const std::string& family) const { return layers_.at(family); }
  // Returns the name that salvage gives a family whose name is lost.
  [[nodiscard]] std::string NameOf(const std::string& family) const {
    for (const auto& [id, name] : names_) {
      if (family == "salvaged-" + std::to_string(id)) return name;
    }
    return family;
  }

 private:
  void HasValue(const std::string& family, Slice key, Slice value, const std::string& path) {
    for (const Models* const models : {&subject_.must, &subject_.may}) {
      const auto model = models->find(family);
      if (model == models->end()) continue;
      const auto newest = model->second.find(key.ToString());
      if (newest != model->second.end() && Slice(newest->second) == value) {
        places_[{family, key.ToString()}].copies.insert(path);
      }
    }
  }

  void TakeRecords(const FoundFile& file) {
    SegmentScanner scanner(*file.file, file.header.Seed(), kFileHeaderSize, file.size, nullptr);
    const auto info = state_.segments.find(file.name.number);
    if (info != state_.segments.end()) scanner.SetHoles(info->second.punched);  // nothing is cut here
    ScannedRecord record;
    while (true) {
      const Result<ScanResult> next = scanner.Next(&record);
      if (!next.ok() || *next != ScanResult::kRecord) return;
      if (record.header.op == RecordOp::kPut) HasValue(names_[record.header.family], record.key, record.stored_value, file.path);
    }
  }

  void TakeLarge(const FoundFile& file) {
    std::string bytes;
    EXPECT_TRUE(fs_.probe().ReadContents(file.path, &bytes).ok());
    for (const Models* const models : {&subject_.must, &subject_.may}) {
      for (const auto& [family, model] : *models) {
        for (const auto& [key, value] : model) {
          if (value.size() < 8'000 || bytes.find(value) == std::string::npos) continue;
          places_[{family, key}].copies.insert(file.path);
        }
      }
    }
  }

  void TakeLayers(const FamilyState& family, const std::vector<FoundFile>& files) {
    Layers& layers = layers_[family.name];
    const auto take = [&](FileKind kind, std::uint64_t number, std::size_t depth, const std::string& from) {
      const auto file = std::ranges::find(files, NumberedFile{kind, number}, &FoundFile::name);
      ASSERT_TRUE(file != files.end());
      layers.depths[file->path] = depth;
      TakePages(family, *file, depth, from);
    };
    std::size_t depth = 0;
    for (const RunInfo& run : family.runs) {
      std::string from;
      if (family.sweep.has_value() &&
          std::ranges::find(family.sweep->runs, run.number) != family.sweep->runs.end()) {
        layers.cursor = from = family.sweep->cursor;
        layers.swept.insert(FilePath(kStorePath, FileKind::kRun, run.number));
      }
      take(FileKind::kRun, run.number, depth++, from);
    }
    std::vector<const LevelRun*> placed;
    for (const auto& [number, run] : family.level_runs) placed.push_back(&run);
    std::ranges::sort(placed, {}, [](const LevelRun* run) { return std::pair(run->level, ~run->tier); });
    for (std::size_t i = 0; i < placed.size(); ++i) {
      const bool is_same = i > 0 && placed[i]->level == placed[i - 1]->level && placed[i]->tier == placed[i - 1]->tier;
      depth += is_same ? 0 : 1;
      take(FileKind::kRun, placed[i]->info.number, depth, "");
    }
    for (const auto& [number, info] : family.index_segments) take(FileKind::kIndex, number, depth + 1, "");
  }

  // Reads all pages of an index file. An entry in a page that no branch refers to is old: a newer page hides it, or has
  // the same value.
  void TakePages(const FamilyState& family, const FoundFile& file, std::size_t depth, const std::string& from) {
    const IndexFile pages(file.file, file.header, nullptr);
    const Status s = ScanLeaves(
        pages, file.size,
        [&](const PageView& leaf) {
          std::string scratch;
          for (std::uint32_t i = 0; i < leaf.count(); ++i) {
            const Slice key = leaf.key(i, &scratch);
            if (!from.empty() && OrderOf(family.name)->Compare(key, from) < 0) continue;
            const Entry entry = leaf.entry(i);
            Place& place = places_[{family.name, key.ToString()}];
            if (entry.kind == EntryKind::kInline) HasValue(family.name, key, entry.inline_value, file.path);
            const std::string value = entry.HasAddress() ? PathOf(entry.address.slot()) : file.path;
            if (!place.layer.empty() && (place.depth < depth || file.name.kind == FileKind::kRun)) continue;
            if (!place.layer.empty() && place.copies.contains(value) < place.copies.contains(place.value)) continue;
            place.layer = file.path;
            place.depth = depth;
            place.value = value;
          }
          return Status::OK();
        },
        nullptr, nullptr);
    EXPECT_TRUE(s.ok()) << s.ToString();
  }

  [[nodiscard]] std::string PathOf(Slot slot) const {
    for (const auto& [number, info] : state_.segments) {
      if (info.slot == slot) return FilePath(kStorePath, FileKindOf(info.kind), number);
    }
    return "";
  }

  const Subject& subject_;
  SimFileSystem fs_;
  const ManifestState state_;
  std::map<std::uint32_t, std::string> names_;
  std::map<std::pair<std::string, std::string>, Place> places_;
  std::map<std::string, Layers> layers_;
};

// ---- Salvage ----

// A disk, with failing calls for one path.
struct Disk {
  SimImage image;
  std::string path;
  std::vector<SimOpKind> failing;

  [[nodiscard]] std::shared_ptr<SimFileSystem> Make() const {
    auto fs = std::make_shared<SimFileSystem>(image);
    for (const SimOpKind kind : failing) {
      SimFault fault;
      fault.kind = kind;
      fault.matches = [its = path](SimOpKind, const std::string& called) { return called == its; };
      fault.sticky = true;
      fault.status = Status::IOError(path + ": Permission denied");
      fs->AddFault(std::move(fault));
    }
    return fs;
  }
};

struct Salvaged {
  RepairReport report;
  Models models;  // by the original names of families
  std::vector<RepairLoss> lost;
  std::set<std::pair<std::string, std::string>> unproven;
  std::string findings;
};

class Judge {
 public:
  explicit Judge(const Subject& subject) : subject_(subject), map_(subject) {}

  void Healthy() {
    Salvaged salvaged;
    SalvageTo({subject_.image, "", {}}, false, &salvaged);
    EXPECT_TRUE(salvaged.report.IsClean()) << salvaged.findings;
    EXPECT_EQ(Missing(salvaged), Keys()) << salvaged.findings;
    ExpectNewest(salvaged);
  }

  // Judges a disk with damage in file `path`.
  void Damaged(const Disk& disk, const std::string& path, bool is_flip) {
    Salvaged proven;
    SalvageTo(disk, false, &proven);
    if (::testing::Test::HasFatalFailure()) return;
    ExpectNewest(proven);
    ExpectReadableIsThere(disk, proven);
    const bool is_manifest = path.find("MANIFEST") != std::string::npos;
    const Keys missing = Missing(proven);
    for (const auto& [family, key] : missing) {
      ASSERT_TRUE(is_manifest || !IsProvenWithout(family, key, path)) << family << "/" << key << " is missing\n"
                                                                     << proven.findings;
      ASSERT_TRUE(IsReported(proven, family, key)) << family << "/" << key << " is missing without a report\n"
                                               << proven.findings;
    }
    ASSERT_TRUE(missing.empty() || !proven.report.IsClean());
    // With the checksums of the MANIFEST, a flipped bit can be restored.
    ASSERT_TRUE(!is_manifest || !is_flip || proven.report.IsClean()) << proven.findings;
    whole_ += missing.empty() ? 1 : 0;
    ++disks_;
    if (missing.empty() && !is_flip) return;

    Salvaged all;
    SalvageTo(disk, true, &all);
    if (::testing::Test::HasFatalFailure()) return;
    const Keys still_missing = Missing(all);
    for (const auto& [family, key] : still_missing) {
      const Place& place = map_.of(family, key);
      ASSERT_TRUE(place.copies == std::set<std::string>{path}) << family << "/" << key << " is intact\n"
                                                                    << all.findings;
    }
    for (const auto& [family, model] : proven.models) {
      for (const auto& [key, value] : model) {
        ASSERT_EQ(all.models[family][key], value) << family << "/" << key << "\n" << all.findings;
      }
    }
    recovered_ += missing.size() - still_missing.size();
    lost_ += still_missing.size();
    const bool is_value = path.ends_with(".log") || path.ends_with(".gc") || path.ends_with(".val");
    ASSERT_TRUE(!is_flip || !is_value || still_missing.size() <= 1) << all.findings;
  }

  ~Judge() {
    std::printf("%s: %llu damaged databases, of %llu nothing is lost; %llu values were unproven, %llu lost\n",
                subject_.name.c_str(), static_cast<unsigned long long>(disks_), static_cast<unsigned long long>(whole_),
                static_cast<unsigned long long>(recovered_), static_cast<unsigned long long>(lost_));
  }

 private:
  using Keys = std::set<std::pair<std::string, std::string>>;  // family, key

  std::unique_ptr<FamilyStore> StoreOn(const std::shared_ptr<SimFileSystem>& fs) const {
    auto store = std::make_unique<FamilyStore>(fs);
    subject_.set_options(store.get());
    return store;
  }

  // Salvages a disk, and fails the test if a rule is violated.
  void SalvageTo(const Disk& disk, bool include_unproven, Salvaged* salvaged) {
    const std::shared_ptr<SimFileSystem> fs = disk.Make();
    const auto store = StoreOn(fs);
    RepairOptions how;
    how.include_unproven = include_unproven;
    how.on_lost = [&](const RepairLoss& loss) {
      salvaged->lost.push_back(loss);
      salvaged->findings += "lost " + loss.key.value_or(loss.begin.value_or("-") + " to " + loss.end.value_or("-")) +
                        ": " + loss.what + "\n";
    };
    how.on_unproven = [&](const RepairUnproven& unproven) {
      salvaged->unproven.emplace(map_.NameOf(unproven.family), unproven.key);
    };
    std::vector<ColumnFamilyDescriptor> families{{kDefaultColumnFamilyName, store->options}};
    for (const std::string& name : subject_.families) families.emplace_back(name, store->OptionsOf(name));
    const auto before = FilesOfDatabase(*fs);
    const Status s = RepairDB(kStorePath, kOutPath, store->options, families, how, &salvaged->report);
    ASSERT_TRUE(s.ok()) << s.ToString();
    for (const std::string& note : salvaged->report.notes) salvaged->findings += "note " + note + "\n";
    salvaged->findings += std::to_string(salvaged->unproven.size()) + " unproven\n";
    ASSERT_EQ(FilesOfDatabase(*fs), before) << "the damaged database was changed";
    ReadOut(*store, salvaged);
  }

  void ReadOut(const FamilyStore& store, Salvaged* salvaged) {
    std::vector<std::string> names;
    Options options = store.options;
    ASSERT_TRUE(DB::ListColumnFamilies(options, kOutPath, &names).ok());
    std::vector<ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, store.OptionsOf(name));
    VerifyReport verified;
    const Status s = VerifyDB(kOutPath, options, families, {.deep = true}, &verified);
    ASSERT_TRUE(s.ok() && verified.problems.empty()) << s.ToString();
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::OpenForReadOnly(options, kOutPath, families, &handles, &db).ok());
    for (ColumnFamilyHandle* const handle : handles) {
      const std::unique_ptr<Iterator> it(db->NewIterator({}, handle));
      Model& model = salvaged->models[map_.NameOf(handle->GetName())];
      for (it->SeekToFirst(); it->Valid(); it->Next()) model[it->key().ToString()] = it->value().ToString();
      EXPECT_TRUE(it->status().ok()) << it->status().ToString();
      delete handle;
    }
    for (const auto& [family, model] : salvaged->models) {
      for (const auto& [key, value] : model) {
        ASSERT_TRUE(subject_.written.at(family).contains(key) && subject_.written.at(family).at(key).contains(value))
            << family << "/" << key << " has a value that was never written";
      }
    }
  }

  [[nodiscard]] static const std::string* Find(const Models& models, const std::string& family, const std::string& key) {
    const auto model = models.find(family);
    if (model == models.end()) return nullptr;
    const auto found = model->second.find(key);
    return found == model->second.end() ? nullptr : &found->second;
  }

  // Expects no old values. The tails of these databases have only new keys, so every old value is known to be old.
  void ExpectNewest(const Salvaged& proven) const {
    for (const auto& [family, model] : proven.models) {
      for (const auto& [key, value] : model) {
        const std::string* const must = Find(subject_.must, family, key);
        const std::string* const may = Find(subject_.may, family, key);
        ASSERT_TRUE((must != nullptr && *must == value) || (may != nullptr && *may == value))
            << family << "/" << key << (must == nullptr ? " was deleted" : " has an old value") << "\n"
            << proven.findings;
      }
    }
  }

  void ExpectReadableIsThere(const Disk& disk, const Salvaged& proven) const {
    const auto store = StoreOn(disk.Make());
    if (!store->OpenWith(subject_.families).ok()) return;
    for (std::size_t f = 0; f < store->handles.size(); ++f) {
      const std::string name = f == 0 ? kDefaultColumnFamilyName : subject_.families[f - 1];
      for (const auto& [key, value] : subject_.must.at(name)) {
        const std::string* const found = Find(proven.models, name, key);
        if (found != nullptr && *found == value) continue;
        std::string read;
        ASSERT_FALSE(store->db->Get({}, store->handles[f], key, &read).ok()) << name << "/" << key << " is readable\n"
                                                                            << proven.findings;
      }
    }
    store->DestroyHandles();
    static_cast<void>(store->db->Close());
  }

  [[nodiscard]] Keys Missing(const Salvaged& salvaged) const {
    Keys missing;
    for (const auto& [family, model] : subject_.must) {
      for (const auto& [key, value] : model) {
        const std::string* const found = Find(salvaged.models, family, key);
        if (found == nullptr || *found != value) missing.emplace(family, key);
      }
    }
    return missing;
  }

  [[nodiscard]] bool IsProvenWithout(const std::string& family, const std::string& key, const std::string& path) const {
    const Place& place = map_.of(family, key);
    if (place.layer.empty() || place.layer == path || place.value == path) return false;
    const Layers& layers = map_.layers(family);
    const auto damaged = layers.depths.find(path);
    if (damaged == layers.depths.end() || damaged->second > place.depth) return true;
    if (layers.swept.contains(path)) return OrderOf(family)->Compare(key, layers.cursor) < 0;
    return damaged->second == place.depth && path.ends_with(".run");
  }

  static bool IsReported(const Salvaged& salvaged, const std::string& family, const std::string& key) {
    if (salvaged.unproven.contains({family, key})) return true;
    const Comparator& order = *OrderOf(family);
    return std::ranges::any_of(salvaged.lost, [&](const RepairLoss& loss) {
      if (!loss.family.empty() && loss.family != family) return false;
      if (loss.key.has_value()) return *loss.key == key;
      return (!loss.begin.has_value() || order.Compare(*loss.begin, key) <= 0) &&
             (!loss.end.has_value() || order.Compare(key, *loss.end) <= 0);
    });
  }

  const Subject& subject_;
  const Map map_;
  std::uint64_t disks_ = 0;
  std::uint64_t whole_ = 0;
  std::uint64_t recovered_ = 0;
  std::uint64_t lost_ = 0;
};

// Damages each file in turn with each kind of damage, at random places; `disks` times in all.
void Attack(const Subject& subject, const SimImage& other, std::uint64_t disks) {
  Judge judge(subject);
  judge.Healthy();
  std::vector<std::string> paths;
  for (const auto& file : SimFileSystem(subject.image).probe().ListFiles()) {
    if (!file.path.ends_with("/LOCK") && !file.path.ends_with("/LOG")) paths.push_back(file.path);
  }
  const std::vector<Damage> damages = Damages(subject.older, other);
  const std::vector<std::pair<const char*, std::vector<SimOpKind>>> refusals = {
      {"cannot be opened", {SimOpKind::kOpen}},
      {"cannot be opened or asked for", {SimOpKind::kOpen, SimOpKind::kGetInfo}},
      {"cannot be read", {SimOpKind::kRead}}};
  const std::size_t kinds = damages.size() + refusals.size();
  Prng prng(SeedFromEnvironment(401));
  // Begin at a random combination: few disks then cover different kinds and files, and many disks cover all.
  const std::uint64_t first = prng.Uniform(kinds);
  for (std::uint64_t i = 0; i < disks; ++i) {
    const std::string& path = paths[i % paths.size()];
    const std::size_t kind = (first + i + i / paths.size()) % kinds;
    if (kind >= damages.size()) {
      const auto& [name, failing] = refusals[kind - damages.size()];
      SCOPED_TRACE(subject.name + ": " + path + ", " + name);
      judge.Damaged({subject.image, path, failing}, path, false);
    } else {
      std::string bytes;
      ASSERT_TRUE(SimFileSystem(subject.image).probe().ReadContents(path, &bytes).ok());
      std::uint64_t seen = 0;
      Damage::Change drawn;
      std::uint64_t which = 0;
      damages[kind].apply(path, bytes, prng, [&](const Damage::Change& change) {
        if (prng.Uniform(++seen) != 0) return;
        drawn = change;
        which = seen - 1;
      });
      if (!drawn) continue;
      SCOPED_TRACE(subject.name + ": " + path + ", " + damages[kind].name + ", " + std::to_string(which));
      SimFileSystem fs(subject.image);
      ASSERT_TRUE(drawn(&fs).ok());
      judge.Damaged({fs.Snapshot(), "", {}}, path, damages[kind].name == std::string("flip a bit"));
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(SalvageGrownTest, FamiliesOfBothIndexes) {
  Attack(grown::Families(), grown::Families(8).image, ScaledCount(120));
}
TEST(SalvageGrownTest, ValuesThatLogGcRelocated) {
  Attack(grown::Collected(), grown::Collected(8).image, ScaledCount(120));
}
TEST(SalvageGrownTest, PunchedValues) { Attack(grown::Punched(), grown::Punched(8).image, ScaledCount(120)); }
TEST(SalvageGrownTest, HalfSweptTree) {
  CAMBIUM_TREE_ONLY("only a tree's sweep commits in steps; a level compaction is committed as a whole");
  Attack(grown::HalfSwept(), grown::Families(8).image, ScaledCount(6));
}

}  // namespace
}  // namespace cambium::testing::salvage_grown_test

// Salvage over the corruption matrix: every kind of damage to every kind of file, after a clean shutdown and after a
// crash.
//
// For every copy, salvage leaves the damaged directory unchanged, and VerifyDB finds no problem in the new database.
// Every value there was written for its key. The new database has all that reads of the damaged one return. It has no
// old value and no deleted key, unless the newer operation was in the damaged bytes of the log's tail. Salvage reports
// everything that is missing.
#include <gtest/gtest.h>

#include <memory>

#include "testing/test_store.h"
#include "cambium/repair.h"
#include "testing/damage.h"
#include "testing/damage_subject.h"
#include "testing/seed.h"

namespace cambium::testing::salvage_matrix_test {
namespace {

constexpr const char* kOutPath = "/out";

std::unique_ptr<TestStore> StoreOn(std::shared_ptr<SimFileSystem> fs) {
  auto store = std::make_unique<TestStore>(std::move(fs));
  UseSubjectOptions(&store->options);
  return store;
}

// Returns what reads of the damaged database still return.
Model Readable(const SimImage& image, const Subject& subject) {
  Model readable;
  const auto store = StoreOn(std::make_shared<SimFileSystem>(image));
  if (!store->Open().ok()) return readable;
  std::string value;
  for (const auto& [key, values] : subject.written) {
    if (store->db->Get({}, key, &value).ok()) readable[key] = value;
  }
  static_cast<void>(store->db->Close());
  return readable;
}

struct Salvaged {
  Status status;
  RepairReport report;
  Model model;
  std::string findings;  // the reported losses
  std::string violation;
};

Salvaged SalvageOf(const std::shared_ptr<SimFileSystem>& fs, bool include_unproven) {
  Salvaged salvaged;
  const auto store = StoreOn(fs);
  const auto before = FilesOfDatabase(*fs);
  RepairOptions how;
  how.include_unproven = include_unproven;
  how.on_lost = [&](const RepairLoss& loss) { salvaged.findings += loss.key.value_or("-") + ": " + loss.what + "\n"; };
  how.on_unproven = [&](const RepairUnproven& unproven) {
    salvaged.findings += unproven.key + " is unproven: " + std::to_string(unproven.sequence) + "\n";
  };
  salvaged.status = RepairDB(kStorePath, kOutPath, store->options, {{kDefaultColumnFamilyName, store->options}}, how,
                             &salvaged.report);
  for (const std::string& note : salvaged.report.notes) salvaged.findings += "note: " + note + "\n";
  if (FilesOfDatabase(*fs) != before) salvaged.violation = "the damaged database was changed";
  if (!salvaged.status.ok()) return salvaged;
  VerifyReport verified;
  const Status s = VerifyDB(kOutPath, store->options, {.deep = true}, &verified);
  if (!s.ok() || !verified.problems.empty()) {
    salvaged.violation = "the new one is wrong: " + (s.ok() ? verified.problems.front() : s.ToString());
  }
  std::unique_ptr<DB> db;
  const Status opened = DB::Open(store->options, kOutPath, &db);
  if (!opened.ok()) {
    salvaged.violation = opened.ToString();
    return salvaged;
  }
  {
    const std::unique_ptr<Iterator> it(db->NewIterator({}));
    for (it->SeekToFirst(); it->Valid(); it->Next()) salvaged.model[it->key().ToString()] = it->value().ToString();
    if (!it->status().ok()) salvaged.violation = it->status().ToString();
  }
  EXPECT_EQ(salvaged.report.families.front().entries, salvaged.model.size());
  static_cast<void>(db->Close());
  return salvaged;
}

class SalvageMatrix {
 public:
  void Attack(End end, CompressionType compression, bool index_only) {
    const Subject subject = MakeSubject(7, end, false, compression);
    const Subject older = MakeSubject(7, end, true, compression);
    const Subject other = MakeSubject(8, end, false, compression);
    ExpectHealthy(subject, end);
    std::vector<std::pair<std::string, std::string>> files = {
        {"MANIFEST", subject.manifest}, {"open log", subject.open_log}, {"sealed log", subject.sealed_log},
        {"run", subject.run},           {"index", subject.index},       {"large value", subject.large}};
    if (index_only) files = {{"index", subject.index}};
    for (const auto& [file, path] : files) {
      std::string bytes;
      ASSERT_TRUE(SimFileSystem(subject.image).probe().ReadContents(path, &bytes).ok());
      for (const Damage& damage : Damages(older.image, other.image)) {
        const bool is_flip = damage.name == std::string("flip a bit");
        std::uint64_t drawn = 0;
        damage.apply(path, bytes, prng_, [&, file = file](const Damage::Change& change) {
          if (drawn++ % (is_flip ? 5 * kSweepStep : kSweepStep) != 0) return;
          const auto fs = std::make_shared<SimFileSystem>(subject.image);
          ASSERT_TRUE(change(fs.get()).ok());
          SCOPED_TRACE(file + ", " + damage.name + ", " + (end == End::kClean ? "clean" : "crashed") + ", image " +
                       std::to_string(++images_));
          Judge(fs, subject, file, is_flip);
        });
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
  ~SalvageMatrix() {
    std::printf("%llu damaged databases; %llu lost nothing, %llu were all there and not all proven\n",
                static_cast<unsigned long long>(images_), static_cast<unsigned long long>(whole_),
                static_cast<unsigned long long>(unproven_));
  }

 private:
  static void ExpectHealthy(const Subject& subject, End end) {
    const Salvaged salvaged = SalvageOf(std::make_shared<SimFileSystem>(subject.image), false);
    ASSERT_TRUE(salvaged.status.ok()) << salvaged.status.ToString();
    EXPECT_EQ(salvaged.violation, "");
    EXPECT_TRUE(salvaged.report.IsClean()) << salvaged.findings;
    Model expected = subject.model;
    if (end == End::kCrash && salvaged.model.contains("late"))
      expected.insert(subject.maybe.begin(), subject.maybe.end());
    EXPECT_EQ(salvaged.model, expected);
  }

  void Judge(const std::shared_ptr<SimFileSystem>& fs, const Subject& subject, const std::string& file, bool is_flip) {
    const SimImage image = fs->Snapshot();
    const Salvaged proven = SalvageOf(std::make_shared<SimFileSystem>(image), false);
    ASSERT_TRUE(proven.status.ok()) << proven.status.ToString();
    ASSERT_EQ(proven.violation, "") << proven.findings;
    for (const auto& [key, value] : Readable(image, subject)) {
      const auto found = proven.model.find(key);
      ASSERT_TRUE(found != proven.model.end() && found->second == value) << key << " is readable\n" << proven.findings;
    }
    for (const auto& [key, value] : proven.model) {
      const auto written = subject.written.find(key);
      ASSERT_TRUE(written != subject.written.end() && written->second.contains(value))
          << key << " has a value that was never written";
      const auto must = subject.model.find(key);
      const auto may = subject.maybe.find(key);
      const bool is_newest = (must != subject.model.end() && must->second == value) ||
                             (may != subject.maybe.end() && may->second == value);
      // Only the tail has this delete, and newest_known reports that operations of the tail are unknown.
      const bool is_news_lost = file == "open log" && key == "t130" && proven.report.newest_known.has_value();
      ASSERT_TRUE(is_newest || is_news_lost) << key << " has an old value\n" << proven.findings;
    }
    const std::string missing = Missing(proven.model, subject);
    if (missing.empty()) ++whole_;
    ASSERT_TRUE(missing.empty() || !proven.report.IsClean()) << missing << " missing without a report";
    // The log of this database has every operation, so it proves everything that the index does.
    const bool has_values = file == "open log" || file == "sealed log" || file == "large value";
    ASSERT_TRUE(missing.empty() || has_values) << missing << " missing\n" << proven.findings;
    if (missing.empty() && !is_flip) return;

    const Salvaged all = SalvageOf(std::make_shared<SimFileSystem>(image), true);
    ASSERT_TRUE(all.status.ok()) << all.status.ToString();
    ASSERT_EQ(all.violation, "");
    const std::string still_missing = Missing(all.model, subject);
    if (!missing.empty() && still_missing.empty()) ++unproven_;
    ASSERT_TRUE(still_missing.empty() || all.report.lost > 0) << still_missing << " missing without a report";
    for (const auto& [key, value] : all.model) {
      const auto written = subject.written.find(key);
      ASSERT_TRUE(written != subject.written.end() && written->second.contains(value))
          << key << " has a value that was never written";
    }
    // One bit damages one record.
    if (is_flip) {
      ASSERT_LE(std::ranges::count(still_missing, ' '), 1) << still_missing << "\n" << all.findings;
    }
  }

  static std::string Missing(const Model& model, const Subject& subject) {
    std::string missing;
    for (const auto& [key, value] : subject.model) {
      const auto found = model.find(key);
      if (found == model.end() || found->second != value) missing += key + " ";
    }
    return missing;
  }

  Prng prng_{SeedFromEnvironment(103)};
  std::uint64_t images_ = 0;
  std::uint64_t whole_ = 0;
  std::uint64_t unproven_ = 0;
};

TEST(SalvageMatrixTest, IntactEntriesAreRecovered) {
  SalvageMatrix matrix;
  for (const End end : {End::kClean, End::kCrash}) {
    matrix.Attack(end, CompressionType::kNoCompression, false);
    if (TestsUseLsm() && !HasFailure()) matrix.Attack(end, CompressionType::kLZ4Compression, true);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace cambium::testing::salvage_matrix_test

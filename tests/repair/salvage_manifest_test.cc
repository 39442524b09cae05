// Tests salvage of databases with a damaged MANIFEST, record by record. Data that the log has and the MANIFEST does not
// know must not be taken for data that was dropped.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "io/sim/sim_file_system.h"
#include "manifest/file_names.h"
#include "manifest/manifest_reader.h"
#include "repair/repair_store.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

std::vector<ManifestRecordSeen> RecordsOf(const TestStore& store, const std::string& path) {
  std::vector<ManifestRecordSeen> records;
  ManifestRead read;
  const Status s = ReadManifestFile(
      *store.fs, path,
      [&](const ManifestRecordSeen& record) {
        records.push_back(record);
        records.back().edit = nullptr;
      },
      &read);
  EXPECT_TRUE(s.ok()) << s.ToString();
  return records;
}

// Makes families that were created after the log segment was named, with or without a flush, and a large value.
void MakeYoungFamilies(TestStore* store, bool is_flushed) {
  store->options.large_value_size = 4 << 10;
  store->MustOpen();
  store->Put("a", "1");
  store->Reopen();
  store->Put("a", "2");
  for (const char* const name : {"pears", "plums"}) {
    ColumnFamilyHandle* family = nullptr;
    ASSERT_TRUE(store->db->CreateColumnFamily(store->options, name, &family).ok());
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(store->db->Put({}, family, NumberedKey(i), std::string(600, name[1])).ok());
    }
    if (is_flushed) {
      ASSERT_TRUE(store->db->Flush({}, family).ok());
    }
    delete family;
  }
  store->Put("large", std::string(5'000, 'l'));
  store->Put("a", "3");
  ASSERT_TRUE(store->db->SyncWAL().ok());
}

// Regression: the MANIFEST had lost the creation of a family. Salvage took the operations of this unknown family for
// those of a dropped family, and reported no loss.
TEST(SalvageManifestTest, FamiliesThatTheManifestHasLostAreSalvaged) {
  for (const bool is_flushed : {false, true}) {
    for (const bool is_closed : {false, true}) {
      TestStore store;
      MakeYoungFamilies(&store, is_flushed);
      if (is_closed) store.MustClose();
      Prng prng(1);
      const SimImage image = store.fs->Snapshot().Kill(prng);
      if (!is_closed) {
        store.fs->PowerOff();
        store.db.reset();
      }
      TestStore whole(std::make_shared<SimFileSystem>(image));
      const Entries before = Read(whole, kStorePath);
      ASSERT_EQ(before.size(), 42u);
      const std::string path = whole.FilesOf("MANIFEST").back();
      const std::vector<ManifestRecordSeen> records = RecordsOf(whole, path);
      ASSERT_GT(records.size(), 3u);
      std::size_t named = 0;
      for (const ManifestRecordSeen& record : records) {
        for (const bool is_cut : {false, true}) {
          SCOPED_TRACE(std::string(is_flushed ? "flushed, " : "") + (is_closed ? "closed, " : "crashed, ") +
                       (is_cut ? "cut at " : "flipped at ") + std::to_string(record.offset));
          TestStore damaged(std::make_shared<SimFileSystem>(image));
          if (is_cut) {
            ASSERT_TRUE(damaged.fs->tampering().Truncate(path, record.offset).ok());
          } else {
            ASSERT_TRUE(damaged.fs->tampering().Overwrite(path, record.offset + 41, "damaged").ok());
          }
          Findings findings;
          const Status s = RepairTo(damaged, {{kDefaultColumnFamilyName, damaged.options}}, {}, &findings);
          ASSERT_TRUE(s.ok()) << s.ToString();
          const Entries out = Read(damaged, kOutPath);
          if (findings.report.IsClean()) {
            EXPECT_EQ(out, before);
          }
          named += out == before ? 1 : 0;
          // The family's name may be lost, but the log has all values.
          std::multiset<std::string> values;
          std::multiset<std::string> expected;
          for (const auto& [key, value] : out) values.insert(value);
          for (const auto& [key, value] : before) expected.insert(value);
          if (!is_flushed) {
            EXPECT_EQ(values, expected);
          }
        }
      }
      EXPECT_GT(named, 0u);
    }
  }
}

// Regression: without a MANIFEST, a large value was ignored if the log that wrote it was gone.
TEST(SalvageManifestTest, LargeValuesAreFoundByTheirRecords) {
  TestStore store;
  store.options.large_value_size = 4 << 10;
  store.options.blob_file_size = 16 << 10;
  store.MustOpen();
  store.Put("large", std::string(5'000, 'o'));
  store.Put("large", std::string(5'000, 'l'));
  store.Put("other", std::string(6'000, 'x'));
  store.Put("small", "s");
  store.Flush();
  for (int i = 0; i < 3; ++i) {
    store.Reopen();
    store.Put(NumberedKey(i), "1");
    store.Flush();
  }
  store.MustClose();
  const Entries before = Read(store, kStorePath);
  for (const std::string& path : store.FilesOf(".log")) ASSERT_TRUE(store.fs->tampering().Remove(path).ok());
  RemoveManifests(store);
  RepairCopies(store, {{kDefaultColumnFamilyName, store.options}},
               [&](bool include_unproven, const TestStore& damaged, const Findings& findings) {
    EXPECT_EQ(Read(damaged, kOutPath), include_unproven ? before : Entries());
    EXPECT_EQ(findings.report.unproven, before.size());
  });
}

// Regression: a crash had left an index file that a compaction had replaced, and one large value was missing. Salvage
// concluded that the MANIFEST had lost its end, and then counted every value as unproven.
TEST(SalvageManifestTest, ManifestIsTrustedDespiteOrphansOfACrash) {
  TestStore store;
  store.options.large_value_size = 4 << 10;
  store.options.blob_file_size = 16 << 10;
  store.MustOpen();
  store.Put("large", std::string(5'000, 'l'));
  for (int i = 0; i < 100; ++i) store.Put(NumberedKey(i), "value" + std::to_string(i));
  store.Compact();
  store.Reopen();
  store.MustClose();
  const Entries before = Read(store, kStorePath);
  const std::string other = TestsUseLsm() ? store.FilesOf(".run").front() : store.FilesOf(".idx").front();
  std::string bytes;
  ASSERT_TRUE(store.fs->probe().ReadContents(other, &bytes).ok());
  Result<FileHeader> header = DecodeFileHeader(Slice(bytes), other);
  ASSERT_TRUE(header.ok());
  header->kind = FileKind::kRun;
  header->number = 1;  // the number of the first MANIFEST, so no other file has it
  const std::string orphan = FilePath(kStorePath, FileKind::kRun, 1);
  ASSERT_TRUE(
      store.fs->tampering().WriteContents(orphan, EncodeFileHeader(*header) + bytes.substr(kFileHeaderSize)).ok());
  for (const std::string& path : store.FilesOf(".val")) ASSERT_TRUE(store.fs->tampering().Remove(path).ok());
  Findings findings;
  ASSERT_TRUE(RepairTo(store, {}, {}, &findings).ok());
  EXPECT_TRUE(findings.report.has_manifest);
  EXPECT_EQ(findings.report.unproven, 0u);
  Entries expected = before;
  expected.erase("default/large");
  EXPECT_EQ(Read(store, kOutPath), expected);
}

}  // namespace
}  // namespace cambium::testing

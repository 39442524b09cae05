// Reading whole, torn, damaged, foreign and forged MANIFESTs.
#include "manifest/manifest_reader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "io/sim/sim_file_system.h"
#include "manifest/edit_generator.h"
#include "manifest/file_names.h"
#include "manifest/manifest.h"
#include "manifest/manifest_forge.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"

namespace cambium {
namespace {

using testing::EditGenerator;
using testing::ManifestForge;
using testing::MutantScope;

const std::string kDirectory = "/db";

std::string PathOf(std::uint64_t number) { return FilePath(kDirectory, FileKind::kManifest, number); }

FileHeader Identity() {
  FileHeader identity;
  identity.kind = FileKind::kManifest;
  identity.file_id.fill(0x5a);
  identity.created_seconds = 1'700'000'000;
  return identity;
}

ManifestState SmallState() {
  ManifestState state;
  state.database_id.fill(0xdb);
  state.epoch = 1;
  state.next_file_number = 2;
  FamilyState& family = state.families[0];
  family.name = "default";
  family.comparator = "cambium.BytewiseComparator";
  family.page_size = 4096;
  return state;
}

FileHeader HeaderOf(std::uint64_t number) {
  FileHeader header = Identity();
  header.database_id = SmallState().database_id;
  header.number = number;
  header.epoch = 1;
  return header;
}

Edit SequenceEdit(SequenceNumber sequence) {
  Edit edit;
  edit.last_sequence = sequence;
  return edit;
}

// A file with a snapshot of SmallState and edits that set last_sequence to 1, 2, ... The ends of its records are in
// *ends, the snapshot's first.
std::string ManifestOf(std::uint64_t number, int edits, std::vector<std::size_t>* ends = nullptr) {
  ManifestState state = SmallState();
  state.next_file_number = number + 1;
  ManifestForge forge(HeaderOf(number));
  forge.Append(ManifestRecordType::kSnapshot, EncodeEdit(SnapshotEdit(state)));
  if (ends != nullptr) ends->push_back(forge.bytes().size());
  for (int i = 1; i <= edits; ++i) {
    forge.Append(ManifestRecordType::kEdit, EncodeEdit(SequenceEdit(static_cast<SequenceNumber>(i))));
    if (ends != nullptr) ends->push_back(forge.bytes().size());
  }
  return forge.bytes();
}

Result<ManifestRead> ReadOne(const std::string& bytes, std::uint64_t number = 1) {
  SimFileSystem fs;
  EXPECT_TRUE(fs.tampering().WriteContents(PathOf(number), bytes).ok());
  const std::uint64_t operations = fs.operations();
  Result<ManifestRead> read = ReadManifest(fs, kDirectory);
  EXPECT_EQ(fs.operations(), operations) << "reading wrote something";
  return read;
}

// A Manifest writes the documented bytes, and so does this test's ManifestForge.
TEST(ManifestReaderTest, ManifestHasTheDocumentedBytes) {
  SimFileSystem fs;
  ASSERT_TRUE(fs.CreateDirectory(kDirectory).ok());
  auto manifest = Manifest::Create(fs, kDirectory, Identity(), 1, SmallState());
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  ASSERT_TRUE((*manifest)->Commit(SequenceEdit(1), 0).ok());
  std::string bytes;
  ASSERT_TRUE(fs.probe().ReadContents(PathOf(1), &bytes).ok());
  EXPECT_EQ(bytes, ManifestOf(1, 1));
  EXPECT_EQ(Slice(bytes).ToString(true),
            "43414d4249554d3101000000010000000000000000000000dbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdb5a5a5a5a5a5a5a5a"
            "5a5a5a5a5a5a5a5a0100000000000000010000000000000000f153650000000000000000000000000000000000000000"
            "00000000000000000000000000000000000000000000000080409ad5ba57734273a75789661220b12f89aa18192a8af3"
            "80409ad5ba577342790000000000000001000000000000000110dbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdb020101030102"
            "0401000501000603000000070100084e010100022c010764656661756c74020101031a63616d6269756d2e4279746577"
            "697365436f6d70617261746f720402802003010005000616010100020800000000000000000301000401000501000b01"
            "01000000000000006b3d3fa8f604759ba4aa83d4f766427373a75789661220b103000000000000000200000000000000"
            "0401010000000000");
}

TEST(ManifestReaderTest, ReadsEveryEditInOrder) {
  std::vector<std::size_t> ends;
  const std::string bytes = ManifestOf(1, 5, &ends);
  const Result<ManifestRead> read = ReadOne(bytes);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->state.last_sequence, 5u);
  EXPECT_EQ(read->number, 1u);
  EXPECT_EQ(read->record_count, 6u);
  EXPECT_EQ(read->valid_length, bytes.size());
  EXPECT_EQ(read->header.file_id, Identity().file_id);
}

TEST(ManifestReaderTest, NoManifestIsNotFound) {
  SimFileSystem fs;
  ASSERT_TRUE(fs.tampering().WriteContents("/db/000001.log", "x").ok());
  EXPECT_TRUE(ReadManifest(fs, kDirectory).status().IsNotFound());
  EXPECT_TRUE(ReadManifest(fs, "/nowhere").status().IsIOError());
}

// A file cut at any byte has the state after its last whole record. If its snapshot is not whole, it has no state, and
// the directory is half-created.
TEST(ManifestReaderTest, TornFileHasTheStateOfItsWholeRecords) {
  std::vector<std::size_t> ends;
  const std::string bytes = ManifestOf(1, 3, &ends);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    SCOPED_TRACE("size " + std::to_string(size));
    SimFileSystem fs;
    ASSERT_TRUE(fs.tampering().WriteContents(PathOf(1), Slice(bytes).substr(0, size)).ok());
    const Result<ManifestRead> read = ReadManifest(fs, kDirectory);
    const Result<bool> half_created = IsHalfCreated(fs, kDirectory);
    ASSERT_TRUE(half_created.ok());
    if (size < ends[0]) {
      EXPECT_TRUE(read.status().IsCorruption());
      EXPECT_NE(read.status().ToString().find("MANIFEST-000001"), std::string::npos);
      EXPECT_TRUE(*half_created);
      continue;
    }
    EXPECT_FALSE(*half_created);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    const auto records = static_cast<std::size_t>(std::ranges::upper_bound(ends, size) - ends.begin());
    EXPECT_EQ(read->record_count, records);
    EXPECT_EQ(read->valid_length, ends[records - 1]);
    EXPECT_EQ(read->state.last_sequence, records - 1);
  }
}

TEST(ManifestReaderTest, FlippedBitIsCorruptionOrMakesTheLastRecordTorn) {
  std::vector<std::size_t> ends;
  const std::string bytes = ManifestOf(1, 3, &ends);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    SCOPED_TRACE("bit " + std::to_string(bit));
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    const Result<ManifestRead> read = ReadOne(damaged);
    if (bit / 8 < ends[2]) {
      ASSERT_FALSE(read.ok());
      EXPECT_TRUE(read.status().IsCorruption()) << read.status().ToString();
      EXPECT_NE(read.status().ToString().find("MANIFEST-000001"), std::string::npos);
    } else {
      ASSERT_TRUE(read.ok()) << read.status().ToString();
      EXPECT_EQ(read->state.last_sequence, 2u);
    }
  }
}

TEST(ManifestReaderTest, CorruptionNamesFileAndOffset) {
  std::vector<std::size_t> ends;
  std::string bytes = ManifestOf(1, 3, &ends);
  bytes[ends[1] + 20] = static_cast<char>(bytes[ends[1] + 20] ^ 1);
  const std::string message = ReadOne(bytes).status().ToString();
  EXPECT_NE(message.find(PathOf(1) + ":" + std::to_string(ends[1])), std::string::npos) << message;
}

// A crash may leave bytes after the end: zeros, garbage, an older image of the file.
TEST(ManifestReaderTest, BytesAfterTheEndAreIgnored) {
  const std::uint64_t seed = testing::SeedFromEnvironment(3);
  Prng prng(seed);
  const std::string bytes = ManifestOf(1, 3);
  for (const std::size_t size : {1u, 7u, 8u, 39u, 40u, 41u, 512u, 4096u, 65536u, 200'000u}) {
    for (const std::string& tail :
         {std::string(size, '\0'), prng.Bytes(size), (bytes + bytes).substr(0, size),
          ManifestOf(2, 3).substr(0, size)}) {
      const Result<ManifestRead> read = ReadOne(bytes + tail);
      ASSERT_TRUE(read.ok()) << read.status().ToString();
      EXPECT_EQ(read->state.last_sequence, 3u);
      EXPECT_EQ(read->valid_length, bytes.size());
    }
  }
}

// A user's key may hold an image of a record. The image is at another offset than the record itself, so it is not
// mistaken for a valid record, and a torn record that contains the image still counts as torn.
TEST(ManifestReaderTest, ImageOfARecordInAKeyIsNotARecord) {
  ManifestState state = SmallState();
  state.next_file_number = 10;
  ManifestForge forge(HeaderOf(1));
  forge.Append(ManifestRecordType::kSnapshot, EncodeEdit(SnapshotEdit(state)));
  Edit edit;
  FamilyEdit& family = edit.families.emplace_back();
  RunInfo run;
  run.number = 5;
  for (int shift = 0; shift < 8; ++shift) run.smallest_key += forge.bytes().substr(kFileHeaderSize) + "x";
  family.add_runs = {run};
  family.layers = {5};
  forge.Append(ManifestRecordType::kEdit, EncodeEdit(edit));
  EXPECT_TRUE(ReadOne(forge.bytes()).ok());
  const Result<ManifestRead> torn = ReadOne(forge.bytes().substr(0, forge.bytes().size() - 8));
  ASSERT_TRUE(torn.ok()) << torn.status().ToString();
  EXPECT_EQ(torn->record_count, 1u);
}

TEST(ManifestReaderTest, HighestWholeManifestIsCurrent) {
  SimFileSystem fs;
  ASSERT_TRUE(fs.tampering().WriteContents(PathOf(3), ManifestOf(3, 3)).ok());
  ASSERT_TRUE(fs.tampering().WriteContents(PathOf(9), ManifestOf(9, 1)).ok());
  ASSERT_TRUE(fs.tampering().WriteContents(PathOf(1'000'000), ManifestOf(1'000'000, 0).substr(0, 200)).ok());  // torn
  ASSERT_TRUE(fs.tampering().WriteContents(PathOf(1'000'001), "").ok());
  const Result<ManifestRead> read = ReadManifest(fs, kDirectory);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->number, 9u);
  EXPECT_EQ(read->state.last_sequence, 1u);
}

// An older file may reappear. It must not replace a newer one that was whole and is damaged now.
TEST(ManifestReaderTest, OlderManifestDoesNotReplaceADamagedOne) {
  SimFileSystem fs;
  ASSERT_TRUE(fs.tampering().WriteContents(PathOf(3), ManifestOf(3, 3)).ok());
  std::string bytes = ManifestOf(9, 1);
  bytes[kFileHeaderSize + 50] = static_cast<char>(bytes[kFileHeaderSize + 50] ^ 1);  // in its snapshot
  ASSERT_TRUE(fs.tampering().WriteContents(PathOf(9), bytes).ok());
  EXPECT_TRUE(ReadManifest(fs, kDirectory).status().IsCorruption());
  EXPECT_FALSE(IsHalfCreated(fs, kDirectory).value());
}

TEST(ManifestReaderTest, UnreadableManifestIsAnErrorAndNotSkipped) {
  SimFileSystem fs;
  ASSERT_TRUE(fs.tampering().WriteContents(PathOf(3), ManifestOf(3, 3)).ok());
  ASSERT_TRUE(fs.tampering().WriteContents(PathOf(9), ManifestOf(9, 1)).ok());
  for (const SimOpKind kind : {SimOpKind::kOpen, SimOpKind::kRead, SimOpKind::kList, SimOpKind::kGetInfo}) {
    SimFault fault;
    fault.kind = kind;
    const int id = fs.AddFault(fault);
    EXPECT_TRUE(ReadManifest(fs, kDirectory).status().IsIOError()) << SimOpName(kind);
    fs.RemoveFault(id);
  }
  EXPECT_EQ(ReadManifest(fs, kDirectory)->number, 9u);
}

TEST(ManifestReaderTest, OnlyAnInterruptedCreationIsHalfCreated) {
  const auto half_created = [](const std::vector<std::pair<std::string, std::string>>& files) {
    SimFileSystem fs;
    EXPECT_TRUE(fs.CreateDirectory(kDirectory).ok());
    for (const auto& [path, bytes] : files) EXPECT_TRUE(fs.tampering().WriteContents(path, bytes).ok());
    const Result<bool> result = IsHalfCreated(fs, kDirectory);
    EXPECT_TRUE(result.ok());
    return result.ok() && *result;
  };
  const std::string torn = ManifestOf(1, 0).substr(0, 200);
  EXPECT_FALSE(half_created({}));
  EXPECT_FALSE(half_created({{"/db/LOCK", ""}}));
  EXPECT_TRUE(half_created({{PathOf(1), ""}}));
  EXPECT_TRUE(half_created({{PathOf(1), torn}, {"/db/LOCK", ""}, {"/db/LOG", "hello"}, {"/db/notes.txt", "mine"}}));
  EXPECT_TRUE(half_created({{PathOf(1), torn}, {PathOf(2), ""}}));  // a second creation crashed, too
  EXPECT_FALSE(half_created({{PathOf(1), torn}, {"/db/000002.log", ""}}));
  EXPECT_FALSE(half_created({{PathOf(1), torn}, {"/db/000002.idx", ""}}));
  EXPECT_FALSE(half_created({{PathOf(1), ManifestOf(1, 0)}}));
  EXPECT_FALSE(half_created({{PathOf(1), ManifestOf(1, 1)}, {PathOf(2), ""}}));
}

// Version and features are checked before anything is written, and before an older file could become current.
TEST(ManifestReaderTest, FutureFormatIsNotSupportedAndNotTouched) {
  const std::string now = ManifestOf(1, 2);
  std::string version = ManifestOf(9, 2);
  EncodeFixed<std::uint32_t>(version.data() + 8, kFormatVersion + 1);
  std::string feature = ManifestOf(9, 2);
  EncodeFixed<std::uint32_t>(feature.data() + 16, 0x80000000u);
  for (std::string* bytes : {&version, &feature}) {
    EncodeFixed<std::uint64_t>(bytes->data() + 120, Checksum64({bytes->data(), 120}, 0));
    SimFileSystem fs;
    ASSERT_TRUE(fs.tampering().WriteContents(PathOf(1), now).ok());
    ASSERT_TRUE(fs.tampering().WriteContents(PathOf(9), *bytes).ok());
    const std::uint64_t operations = fs.operations();
    EXPECT_TRUE(ReadManifest(fs, kDirectory).status().IsNotSupported());
    EXPECT_TRUE(IsHalfCreated(fs, kDirectory).status().IsNotSupported());
    EXPECT_EQ(fs.operations(), operations);
  }
}

TEST(ManifestReaderTest, RecordsOfALaterVersionAreNotSupported) {
  ManifestForge type(HeaderOf(1));
  type.Append(ManifestRecordType::kSnapshot, EncodeEdit(SnapshotEdit(SmallState())));
  type.Append(ManifestRecordType::kEdit, EncodeEdit(SequenceEdit(1)));
  ManifestForge reserved = type;
  type.PatchHeader(32, 3);
  EXPECT_TRUE(ReadOne(type.bytes()).status().IsNotSupported());
  reserved.PatchHeader(36, 1);
  EXPECT_TRUE(ReadOne(reserved.bytes()).status().IsNotSupported());
  ManifestForge tag(HeaderOf(1));
  tag.Append(ManifestRecordType::kSnapshot, EncodeEdit(SnapshotEdit(SmallState())) + "\x7f\x01\x01");
  EXPECT_TRUE(ReadOne(tag.bytes()).status().IsNotSupported());
}

TEST(ManifestReaderTest, RenamedFileIsCorruption) {
  EXPECT_TRUE(ReadOne(ManifestOf(1, 1), 2).status().IsCorruption());
  FileHeader log = HeaderOf(1);
  log.kind = FileKind::kLog;
  EXPECT_TRUE(ReadOne(EncodeFileHeader(log)).status().IsCorruption());
}

// Right checksums, wrong contents.
TEST(ManifestReaderTest, ForgedRecordsAreCorruption) {
  const std::string snapshot = EncodeEdit(SnapshotEdit(SmallState()));
  const auto forge = [&snapshot](auto change) {
    ManifestForge file(HeaderOf(1));
    file.Append(ManifestRecordType::kSnapshot, snapshot);
    change(&file);
    return ReadOne(file.bytes()).status();
  };
  const auto edit = [](SequenceNumber sequence) { return EncodeEdit(SequenceEdit(sequence)); };
  EXPECT_TRUE(forge([](ManifestForge*) {}).ok());
  EXPECT_TRUE(forge([&](ManifestForge* f) { f->Append(ManifestRecordType::kSnapshot, snapshot); }).IsCorruption());
  EXPECT_TRUE(forge([&](ManifestForge* f) { f->Append(ManifestRecordType::kEdit, snapshot); }).IsCorruption());
  EXPECT_TRUE(forge([&](ManifestForge* f) { f->Append(ManifestRecordType::kEdit, "x"); }).IsCorruption());
  EXPECT_TRUE(forge([&](ManifestForge* f) {
                f->Append(ManifestRecordType::kEdit, edit(5));
                f->Append(ManifestRecordType::kEdit, edit(4));
              }).IsCorruption());
  EXPECT_TRUE(forge([&](ManifestForge* f) {  // a lost record in between
                f->set_previous(123);
                f->Append(ManifestRecordType::kEdit, edit(5));
              }).IsCorruption());
  EXPECT_TRUE(forge([&](ManifestForge* f) {  // claims more bytes than the file has, so it looks torn
                f->Append(ManifestRecordType::kEdit, edit(5));
                f->PatchHeader(28, 0xffffffffu);
              }).ok());

  ManifestForge edit_first(HeaderOf(1));
  edit_first.Append(ManifestRecordType::kEdit, edit(1));
  EXPECT_TRUE(ReadOne(edit_first.bytes()).status().IsCorruption());

  ManifestState other = SmallState();
  other.database_id.fill(1);
  ManifestForge foreign(HeaderOf(1));
  foreign.Append(ManifestRecordType::kSnapshot, EncodeEdit(SnapshotEdit(other)));
  EXPECT_TRUE(ReadOne(foreign.bytes()).status().IsCorruption());

  ManifestState low = SmallState();
  ManifestForge counter(HeaderOf(7));
  counter.Append(ManifestRecordType::kSnapshot, EncodeEdit(SnapshotEdit(low)));
  EXPECT_TRUE(ReadOne(counter.bytes(), 7).status().IsCorruption());
}

// Damaged payloads with right checksums: an error, or a state that Check accepts.
TEST(ManifestReaderTest, ForgedPayloadsAreRejectedOrHarmless) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0xbad);
  Prng prng(seed);
  EditGenerator generator(seed);
  ManifestState state = generator.Start();
  state.database_id = HeaderOf(1).database_id;
  std::uint64_t accepted = 0;
  for (std::uint64_t run = 0; run < 1500 * testing::ScaleFromEnvironment(); ++run) {
    ManifestForge file(HeaderOf(1));
    for (int record = 0; record < 3; ++record) {
      std::string payload =
          record == 0 ? EncodeEdit(SnapshotEdit(state)) : EncodeEdit(generator.Next(state));
      if (prng.OneIn(2)) {
        const std::size_t at = payload.empty() ? 0 : prng.Uniform(payload.size());
        if (prng.OneIn(2)) payload.insert(at, prng.Bytes(prng.Uniform(5)));
        if (prng.OneIn(2)) payload.erase(at, prng.Uniform(5));
        if (at < payload.size()) payload[at] = static_cast<char>(prng.Next());
      }
      file.Append(record == 0 ? ManifestRecordType::kSnapshot : ManifestRecordType::kEdit, payload);
    }
    const Result<ManifestRead> read = ReadOne(file.bytes());
    if (read.ok()) {
      ++accepted;
      ASSERT_TRUE(read->state.Check().ok());
    } else {
      ASSERT_TRUE(read.status().IsCorruption() || read.status().IsNotSupported()) << read.status().ToString();
    }
    if (state.segments.size() < 20) {
      ASSERT_TRUE(ApplyEdit(generator.Next(state), &state).ok());
    }
  }
  EXPECT_GT(accepted, 50u);
}

#ifdef CAMBIUM_TEST_HOOKS
// Sectors that were not written before the crash read as zeros. Without checksums they would be taken for a record.
TEST(ManifestReaderTest, MutantNoChecksumAcceptsATornRecord) {
  std::vector<std::size_t> ends;
  std::string bytes = ManifestOf(1, 3, &ends);
  for (std::size_t i = ends[2] + kManifestRecordHeaderSize; i < bytes.size(); ++i) bytes[i] = '\0';
  ASSERT_EQ(ReadOne(bytes)->state.last_sequence, 2u);
  const MutantScope mutant(Mutant::kManifestNoChecksum);
  const Result<ManifestRead> read = ReadOne(bytes);
  EXPECT_FALSE(read.ok() && read->state.last_sequence == 2);
}
#endif

// ---- Mending, for salvage ----

Result<ManifestRemains> RemainsOf(const std::string& bytes) {
  SimFileSystem fs;
  EXPECT_TRUE(fs.tampering().WriteContents(PathOf(1), bytes).ok());
  return ReadManifestRemains(fs, kDirectory);
}

// Any one damaged byte is mended: the two checksums of each record, and that of the file's header, prove its value.
TEST(ManifestMendTest, DamagedByteIsMended) {
  std::vector<std::size_t> ends;
  const std::string bytes = ManifestOf(1, 4, &ends);
  const Result<ManifestRead> whole = ReadOne(bytes);
  ASSERT_TRUE(whole.ok());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    SCOPED_TRACE("byte " + std::to_string(at));
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (at % 2 == 0 ? 1 << at / 2 % 8 : 3 + at % 200));
    const Result<ManifestRemains> remains = RemainsOf(damaged);
    ASSERT_TRUE(remains.ok() && remains->has_state);
    EXPECT_TRUE(remains->flaw.ok()) << remains->flaw.ToString();
    EXPECT_EQ(remains->state, whole->state);
    const std::size_t record = at < kFileHeaderSize ? 0
                               : at < ends.front()  ? kFileHeaderSize
                                                    : *std::prev(std::ranges::upper_bound(ends, at));
    EXPECT_EQ(remains->mended, std::vector<std::string>{PathOf(1) + ":" + std::to_string(record)});
  }
}

// A lost header can be computed from its payload and the records around it. The next record contains the checksum of
// the header, and so proves it. For the last record there is no such proof.
TEST(ManifestMendTest, LostHeaderOfARecordIsMended) {
  std::vector<std::size_t> ends;
  const std::string bytes = ManifestOf(1, 4, &ends);
  const Result<ManifestRead> whole = ReadOne(bytes);
  ASSERT_TRUE(whole.ok());
  ends.insert(ends.begin(), kFileHeaderSize);
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    std::string damaged = bytes;
    damaged.replace(ends[i], kManifestRecordHeaderSize, kManifestRecordHeaderSize, 'x');
    const Result<ManifestRemains> remains = RemainsOf(damaged);
    ASSERT_TRUE(remains.ok());
    const bool is_last = i + 2 == ends.size();
    EXPECT_EQ(remains->mended.size(), is_last ? 0u : 1u) << i;
    EXPECT_EQ(remains->state.last_sequence, is_last ? 3u : 4u) << i;
    EXPECT_TRUE(remains->flaw.ok()) << remains->flaw.ToString();
  }
}

// A state of `families` families of about 300 bytes each, and the default one.
ManifestState LargeState(std::uint32_t families) {
  ManifestState state = SmallState();
  for (std::uint32_t id = 1; id <= families; ++id) {
    FamilyState& family = state.families[id] = state.families[0];
    family.id = id;
    family.name = std::to_string(id) + std::string(300, 'n');
  }
  state.next_family_id = families + 1;
  return state;
}

// Mending a header is cheap, even if the payload is large. (Regression: only records up to 64 KiB were mended.)
TEST(ManifestMendTest, HeaderOfALargeRecordIsMended) {
  ManifestForge forge(HeaderOf(1));
  const ManifestState state = LargeState(400);
  forge.Append(ManifestRecordType::kSnapshot, EncodeEdit(SnapshotEdit(state)));
  ASSERT_GT(forge.bytes().size(), 100'000u);
  const std::string alone = forge.bytes();
  forge.Append(ManifestRecordType::kEdit, EncodeEdit(SequenceEdit(1)));
  for (const bool is_lost : {false, true}) {
    for (const bool is_last : {false, true}) {
      std::string damaged = is_last ? alone : forge.bytes();
      damaged.replace(kFileHeaderSize + 8, is_lost ? 20 : 1, is_lost ? 20 : 1, '\xee');
      const Result<ManifestRemains> remains = RemainsOf(damaged);
      ASSERT_TRUE(remains.ok());
      EXPECT_EQ(remains->has_state, !(is_lost && is_last));
      if (!remains->has_state) continue;
      EXPECT_EQ(remains->state.families, state.families);
      EXPECT_EQ(remains->mended.size(), 1u);
      EXPECT_TRUE(remains->flaw.ok()) << remains->flaw.ToString();
    }
  }
}

// Mending one record may hash 4 GiB, so without a budget for the file a thousand of them could keep a repair busy for
// days.
TEST(ManifestMendTest, MendingHasABudgetForTheFile) {
  ManifestForge forge(HeaderOf(1));
  forge.Append(ManifestRecordType::kSnapshot, EncodeEdit(SnapshotEdit(LargeState(0))));
  std::vector<std::size_t> ends;
  for (std::uint32_t id = 1; id <= 2; ++id) {
    Edit edit = SequenceEdit(id);
    edit.next_family_id = 60 * id + 1;
    edit.families = SnapshotEdit(LargeState(60 * id)).families;
    std::erase_if(edit.families, [&](const FamilyEdit& family) { return family.id <= 60 * (id - 1); });
    forge.Append(ManifestRecordType::kEdit, EncodeEdit(edit));
    ends.push_back(forge.bytes().size());
  }
  forge.Append(ManifestRecordType::kEdit, EncodeEdit(SequenceEdit(3)));
  std::string damaged = forge.bytes();
  for (const std::size_t end : ends) damaged[end - 9] = static_cast<char>(damaged[end - 9] ^ 1);
  const Result<ManifestRemains> remains = RemainsOf(damaged);
  ASSERT_TRUE(remains.ok() && remains->has_state);
  EXPECT_EQ(remains->mended.size(), 1u);
  EXPECT_EQ(remains->state.last_sequence, 1u);
  EXPECT_TRUE(remains->flaw.IsCorruption());
}

TEST(ManifestMendTest, MoreDamageIsNotMended) {
  std::vector<std::size_t> ends;
  const std::string bytes = ManifestOf(1, 4, &ends);
  const auto expect_flaw = [&](std::string damaged) {
    const Result<ManifestRemains> remains = RemainsOf(damaged);
    ASSERT_TRUE(remains.ok() && remains->has_state);
    EXPECT_TRUE(remains->mended.empty());
    EXPECT_TRUE(remains->flaw.IsCorruption());
    EXPECT_EQ(remains->state.last_sequence, 1u);
  };
  std::string damaged = bytes;
  damaged[ends[1] + kManifestRecordHeaderSize] ^= 1;  // two bytes of the payload
  damaged[ends[1] + kManifestRecordHeaderSize + 1] ^= 1;
  expect_flaw(damaged);
  damaged = bytes;
  damaged[ends[1]] ^= 1;  // two of the header, and the payload
  damaged[ends[1] + 20] ^= 1;
  damaged[ends[1] + kManifestRecordHeaderSize] ^= 1;
  expect_flaw(damaged);
  // A whole payload, but not the committed one.
  ManifestForge forge(HeaderOf(1));
  ManifestState state = SmallState();
  forge.Append(ManifestRecordType::kSnapshot, EncodeEdit(SnapshotEdit(state)));
  for (const SequenceNumber sequence : {1, 5, 3, 4}) {
    forge.Append(ManifestRecordType::kEdit, EncodeEdit(SequenceEdit(sequence)));
  }
  damaged = bytes;
  damaged.replace(ends[1], kManifestRecordHeaderSize, kManifestRecordHeaderSize, 'x');
  damaged.replace(ends[1] + kManifestRecordHeaderSize, ends[2] - ends[1] - kManifestRecordHeaderSize, forge.bytes(),
                  ends[1] + kManifestRecordHeaderSize, ends[2] - ends[1] - kManifestRecordHeaderSize);
  ASSERT_EQ(forge.bytes().size(), bytes.size());
  ASSERT_NE(damaged, bytes);
  expect_flaw(damaged);
}

}  // namespace
}  // namespace cambium

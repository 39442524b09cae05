// A MANIFEST file. If it is read, its state is written to a new MANIFEST and read again.
#include <memory>

#include "fuzz/target.h"
#include "io/file_header.h"
#include "io/sim/sim_file_system.h"
#include "manifest/edit.h"
#include "manifest/file_names.h"
#include "manifest/manifest.h"
#include "manifest/manifest_reader.h"
#include "util/coding.h"
#include "util/result.h"

namespace cambium::fuzz {
namespace {

// Whether the edit is the same after it was written and read.
void PromiseSameEdit(const Edit& edit) {
  const std::string bytes = EncodeEdit(edit);
  const Result<Edit> again = DecodeEdit(bytes);
  Promise(again.ok(), "an edit that was read cannot be read again: " + again.status().ToString());
  Promise(EncodeEdit(*again) == bytes, "an edit that was read is written as other bytes the second time");
}

void PromiseSameState(SimFileSystem* fs, const ManifestRead& read) {
  const Status check = read.state.Check();
  Promise(check.ok(), "a state that was read fails its check: " + check.ToString());
  ManifestState rebuilt;
  const Status applied = ApplyEdit(SnapshotEdit(read.state), &rebuilt);
  Promise(applied.ok(), "the snapshot of a state does not fit an empty state: " + applied.ToString());
  Promise(rebuilt == read.state, "the snapshot of a state makes another state");
  const std::uint64_t number = read.state.next_file_number;
  if (number > kFileNumberMax || number <= read.number) return;
  const Result<std::unique_ptr<Manifest>> created = Manifest::Create(*fs, kDirectory, read.header, number, read.state);
  Promise(created.ok(), "a state that was read cannot be written: " + created.status().ToString());
  const Result<ManifestRead> again = ReadManifest(*fs, kDirectory);
  Promise(again.ok(), "a MANIFEST that was written cannot be read: " + again.status().ToString());
  ManifestState expected = read.state;
  expected.next_file_number = again->state.next_file_number;  // it is above the new MANIFEST's
  Promise(again->number == number && again->state == expected, "a MANIFEST that was written has another state");
}

void FuzzManifest(Slice input) {
  SimFileSystem fs;
  const std::uint64_t claimed = input.size() < kFileHeaderSize ? 1 : DecodeFixed<std::uint64_t>(input.data() + 56);
  const bool is_legal = claimed > 0 && claimed <= kFileNumberMax;
  const std::uint64_t number = is_legal ? claimed : 1;
  const std::string path = FilePath(kDirectory, FileKind::kManifest, number);
  if (!fs.tampering().WriteContents(path, input).ok()) return;

  ManifestRead read;
  std::uint64_t end = kFileHeaderSize;
  const Status s = ReadManifestFile(
      fs, path,
      [&](const ManifestRecordSeen& record) {
        Promise(record.offset == end, "a record of the MANIFEST does not begin where the one before it ends");
        end = record.offset + record.size;
        Promise(end <= input.size(), "a record of the MANIFEST reaches beyond the file");
        PromiseSameEdit(*record.edit);
      },
      &read);
  if (!s.ok()) PromiseDamage(s, path, "reading a MANIFEST");

  const Result<ManifestRead> current = ReadManifest(fs, kDirectory);
  Promise(!s.ok() || !is_legal || current.ok(), "a MANIFEST is whole but not current: " + current.status().ToString());
  if (!current.ok()) PromiseDamage(current.status(), kDirectory, "reading the current MANIFEST");
  const Result<ManifestRemains> remains = ReadManifestRemains(fs, kDirectory);
  if (!remains.ok()) PromiseDamage(remains.status(), kDirectory, "reading what remains of a MANIFEST");
  if (!current.ok()) return;
  Promise(remains.ok() && remains->has_state && remains->state == current->state && remains->flaw.ok(),
          "what remains of a whole MANIFEST is another state");
  PromiseSameState(&fs, *current);
}

void AddManifestSeeds(const GoldenFiles& files, std::vector<std::string>* seeds) {
  for (const auto& [name, bytes] : files) {
    if (name.starts_with("MANIFEST-")) seeds->push_back(bytes);
  }
}

}  // namespace

const Target kManifestTarget = {"manifest", false, FuzzManifest, AddManifestSeeds};

}  // namespace cambium::fuzz

// A segment of the commit log: scanned record by record, over damage too, and replayed.
#include <memory>

#include "cambium/db.h"
#include "fuzz/target.h"
#include "io/file_header.h"
#include "io/sim/sim_file_system.h"
#include "manifest/file_names.h"
#include "manifest/state.h"
#include "recovery/log_replay.h"
#include "util/coding.h"
#include "util/result.h"
#include "vlog/record_format.h"
#include "vlog/segment_scanner.h"

namespace cambium::fuzz {
namespace {

constexpr std::uint32_t kFamily = 0;  // the default one

void PromiseSameHeader(const RecordHeader& header, Slice file, std::uint64_t offset) {
  std::string bytes(kRecordHeaderSize, '\0');
  EncodeRecordHeader(header, 0, offset, bytes.data());
  Promise(Slice(bytes).substr(8, kRecordHeaderSize - 8) == file.substr(offset + 8, kRecordHeaderSize - 8),
          "the header of a record is written as other bytes");
}

// Reads all records as salvage does: it skips damage, and continues after it.
void Scan(const File& file, const std::string& path, Slice bytes, std::uint64_t start) {
  SegmentScanner scanner(file, 0, start, bytes.size(), nullptr);
  ScannedRecord record;
  std::uint64_t end = start;
  while (true) {
    const Result<ScanResult> next = scanner.Next(&record);
    if (!next.ok()) {
      PromiseDamage(next.status(), path, "scanning a segment");
      return;
    }
    if (*next == ScanResult::kEnd) return;
    if (*next == ScanResult::kRecord) {
      Promise(record.offset >= end && record.end() <= bytes.size() && record.end() > record.offset,
              "a scanned record overlaps the one before it, or ends beyond the file");
      PromiseSameHeader(record.header, bytes, record.offset);
      end = record.end();
      continue;
    }
    Promise(!scanner.reason().empty(), "a scanner rejects a record without a reason");
    const std::uint64_t at = scanner.offset();
    if (!scanner.OnlyZerosAhead().ok() || !scanner.ProbeForWitness().ok()) return;
    const Result<bool> found = scanner.SkipDamage();
    Promise(found.ok(), "damage cannot be skipped: " + found.status().ToString());
    if (!*found) return;
    Promise(scanner.offset() > at, "a scanner does not advance over damage");
    end = scanner.offset();
  }
}

// Replays the segment as the only one that the MANIFEST names.
void Replay(SimFileSystem* fs, const FileHeader& header) {
  ManifestState state;
  state.database_id = header.database_id;
  state.epoch = header.epoch;
  state.next_file_number = header.number + 1;
  state.replay = {header.number, 0};
  FamilyState family;
  family.id = kFamily;
  family.name = kDefaultColumnFamilyName;
  family.comparator = BytewiseComparator()->Name();
  family.page_size = 4096;
  state.families[kFamily] = family;
  SegmentInfo segment;
  segment.number = header.number;
  segment.file_id = header.file_id;
  segment.epoch = header.epoch;
  state.segments[header.number] = segment;

  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kPointInTimeRecovery}) {
    ReplayRequest request;
    request.fs = fs;
    request.directory = kDirectory;
    request.state = &state;
    request.mode = mode;
    request.inline_below = {{kFamily, 64}};
    request.use_io_uring = false;
    SequenceNumber last = 0;
    const Result<ReplayResult> replayed = ReplayLog(request, [&](const std::vector<ReplayedOp>& batch) {
      Promise(!batch.empty(), "replay applies an empty batch");
      for (const ReplayedOp& op : batch) {
        Promise(op.sequence > last, "sequence numbers of a replayed log do not ascend");
        last = op.sequence;
      }
      return Status::OK();
    });
    if (!replayed.ok()) {
      PromiseDamage(replayed.status(), kDirectory, "replaying a log");
      continue;
    }
    Promise(replayed->last_sequence >= last, "replay has applied operations after its last one");
  }
}

void FuzzLog(Slice input) {
  if (input.size() < kFileHeaderSize) return;
  std::string bytes = input.ToString();
  std::uint64_t number = DecodeFixed<std::uint64_t>(bytes.data() + 56);
  if (number == 0 || number >= kFileNumberMax) number = 1;
  const std::string path = FilePath(kDirectory, FileKind::kLog, number);
  const Result<FileHeader> header = DecodeFileHeader(Slice(bytes).substr(0, kFileHeaderSize), path);
  if (!header.ok()) return PromiseDamage(header.status(), path, "reading a header");
  SimFileSystem fs;
  if (!fs.tampering().WriteContents(path, bytes).ok()) return;
  std::unique_ptr<File> file;
  if (!fs.Open(path, OpenMode::kReadOnly, {}, &file).ok()) return;
  Scan(*file, path, bytes, kFileHeaderSize);
  if (header->number == number) Replay(&fs, *header);
}

void AddLogSeeds(const GoldenFiles& files, std::vector<std::string>* seeds) {
  for (const std::string& bytes : FilesWith(files, ".log")) seeds->push_back(bytes);
  for (const std::string& bytes : FilesWith(files, ".gc")) seeds->push_back(bytes);
  for (const std::string& bytes : FilesWith(files, ".val")) seeds->push_back(bytes);
}

}  // namespace

const Target kLogTarget = {"log", false, FuzzLog, AddLogSeeds};

}  // namespace cambium::fuzz

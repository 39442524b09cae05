// Shared by the tests of the log: makes segments in a simulated file system, and reads them back record by record.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "io/sim/sim_file_system.h"
#include "vlog/prepared_batch.h"
#include "vlog/segment.h"
#include "vlog/segment_scanner.h"

namespace cambium::testing {

inline FileHeader HeaderOf(std::uint64_t number, FileKind kind = FileKind::kLog) {
  FileHeader header;
  header.kind = kind;
  header.number = number;
  header.epoch = 1;
  header.file_id[0] = static_cast<unsigned char>(number);
  header.file_id[1] = static_cast<unsigned char>(number >> 8);
  return header;
}

inline std::string PathOf(std::uint64_t number) { return "/" + std::to_string(number) + ".log"; }

// Makes an empty segment; its file and name are durable.
inline std::shared_ptr<Segment> MakeSegment(SimFileSystem* fs, std::uint64_t number, Slot slot,
                                            FileKind kind = FileKind::kLog) {
  const FileHeader header = HeaderOf(number, kind);
  std::unique_ptr<File> file;
  EXPECT_TRUE(fs->Open(PathOf(number), OpenMode::kCreateNew, {}, &file).ok());
  EXPECT_TRUE(file->Write(0, EncodeFileHeader(header)).ok());
  EXPECT_TRUE(file->SyncData().ok());
  EXPECT_TRUE(fs->SyncDirectory("/").ok());
  return std::make_shared<Segment>(number, slot, PathOf(number), std::move(file), header, nullptr);
}

inline std::string Concatenate(const std::vector<Slice>& pieces) {
  std::string bytes;
  for (const Slice piece : pieces) bytes.append(piece.data(), piece.size());
  return bytes;
}

// A record as the scanner returned it, with its own copy of the bytes.
struct OwnedRecord {
  RecordHeader header;
  std::string key;
  std::string value;  // as stored
  std::uint64_t offset = 0;
};

// Returns all records in [kFileHeaderSize, limit) of a file, up to the end or the first invalid one; *end says which.
inline std::vector<OwnedRecord> ScanAll(FileSystem* fs, const std::string& path, std::uint64_t seed,
                                        std::uint64_t limit, ScanResult* end, bool queued = false) {
  std::vector<OwnedRecord> records;
  std::unique_ptr<File> file;
  FileOptions direct;
  direct.direct = true;
  const Status opened = fs->Open(path, OpenMode::kReadOnly, direct, &file);
  EXPECT_TRUE(opened.ok()) << opened.ToString();
  if (!opened.ok()) return records;
  FileInfo info;
  EXPECT_TRUE(file->GetInfo(&info).ok());
  const std::unique_ptr<ReadQueue> queue = queued ? fs->NewReadQueue(4, false) : nullptr;
  SegmentScanner scanner(*file, seed, kFileHeaderSize, std::min(limit, info.size), queue.get());
  while (true) {
    ScannedRecord record;
    const Result<ScanResult> next = scanner.Next(&record);
    EXPECT_TRUE(next.ok()) << next.status().ToString();
    if (!next.ok()) return records;
    *end = *next;
    if (*next != ScanResult::kRecord) return records;
    records.push_back({record.header, record.key.ToString(), record.stored_value.ToString(), record.offset});
  }
}

}  // namespace cambium::testing

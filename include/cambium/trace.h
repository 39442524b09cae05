// Traces: what is asked of a database, operation by operation, in a file that can be replayed and analysed.
//
//   cambium::Status s = db->StartTrace(cambium::TraceOptions(), "/var/tmp/store.trace");
//   ...
//   if (s.ok()) s = db->EndTrace();
//
// Recorded are writes as a whole, look-ups and scans: time, column family, keys, and lengths of values. Values themselves
// only if asked for, since whoever replays a trace can make some. Names are RocksDB's where they mean the same; the file
// is this library's own, drawn in docs/FORMAT.md. `cambium_bench trace` replays it, analyses it, and turns it into text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "cambium/slice.h"
#include "cambium/status.h"

namespace cambium {

// What is left out of a trace: bits of TraceOptions::filter.
enum TraceFilterType : std::uint64_t {
  kTraceFilterNone = 0,
  kTraceFilterGet = 1u << 0,
  kTraceFilterWrite = 1u << 1,
  kTraceFilterIteratorSeek = 1u << 2,         // and SeekToFirst
  kTraceFilterIteratorSeekForPrev = 1u << 3,  // and SeekToLast
  kTraceFilterMultiGet = 1u << 4,
};

struct TraceOptions {
  // The trace ends, without an error, before the record with which its file would be larger. At least 4 KiB.
  std::uint64_t max_trace_file_size = std::uint64_t{64} << 30;
  // Of so many operations that the filter lets through the last one is recorded. From 1, which is all of them.
  std::uint64_t sampling_frequency = 1;
  // Bits of TraceFilterType.
  std::uint64_t filter = kTraceFilterNone;
  // Writes are recorded in the order in which they become visible: each while it holds the lock of the log's end, which
  // makes others wait. Else each caller records its own when it is through, and two at a time in either order.
  bool preserve_write_order = false;
  // Values of writes are recorded too, not only their lengths.
  bool include_values = false;
};

// Where a trace goes. One thread at a time.
class TraceWriter {
 public:
  virtual ~TraceWriter() = default;
  // Behind what was written before. After an error nothing more is written.
  virtual Status Write(Slice data) = 0;
  virtual Status Close() = 0;
  // Bytes written so far.
  virtual std::uint64_t GetFileSize() = 0;
};

// Writes a file, which must not exist. Durable when Close returns. The library's own file system if null.
Status NewFileTraceWriter(std::shared_ptr<FileSystem> file_system, const std::string& path,
                          std::unique_ptr<TraceWriter>* writer);

enum class TraceType : unsigned char {
  kTraceEnd = 2,
  kTraceWrite = 3,
  kTraceGet = 4,
  kTraceIteratorSeek = 5,
  kTraceIteratorSeekForPrev = 6,
  kTraceMultiGet = 13,
  // RocksDB has none of these.
  kTraceIteratorSeekToFirst = 32,
  kTraceIteratorSeekToLast = 33,
  kTraceIteratorDone = 34,  // the scan that a seek began: the iterator has been moved elsewhere, or deleted
};
using enum TraceType;

enum class TraceOpType : unsigned char {
  kPut = 1,
  kDelete = 2,
  kSingleDelete = 3,
  kDeleteRange = 4,
  kLookup = 5,
  kSeek = 6,
};

// What a record says of one key.
struct TraceOp {
  TraceOpType type = TraceOpType::kLookup;
  std::uint32_t family = 0;
  Slice key;
  Slice end_key;                 // of a range delete
  bool found = false;            // of a look-up
  std::uint64_t value_size = 0;  // of a put, or what a look-up has found
  Slice value;                   // of a put, if values are recorded
};

struct TraceRecord {
  TraceType type = kTraceEnd;
  std::uint64_t time_micros = 0;  // since the trace began, when the operation began
  // In the order of a batch or MultiGet; one of a Get or a seek, without a key for SeekToFirst and SeekToLast; else none.
  std::vector<TraceOp> ops;
  bool sync = false;           // of a write
  std::uint64_t scan = 0;      // of a seek, and of its kTraceIteratorDone: from 1, and no other seek's of the trace
  std::uint64_t moves = 0;     // kTraceIteratorDone: how many calls of Next and Prev there were
  std::uint64_t records = 0;   // kTraceEnd: how many are before it
  std::uint64_t left_out = 0;  // kTraceEnd: batches whose record would have more than 256 MiB
  bool is_full = false;        // kTraceEnd: recording ended when max_trace_file_size was reached
};

// What stands in front of the records.
struct TraceHeader {
  std::uint64_t wall_seconds = 0;  // since 1970, when it began
  std::uint64_t sampling_frequency = 1;
  std::uint64_t filter = kTraceFilterNone;
  bool preserve_write_order = false;
  bool include_values = false;
};

// Reads what a trace's writer was given, one record after the other. One thread at a time.
class TraceReader {
 public:
  virtual ~TraceReader() = default;
  [[nodiscard]] virtual const TraceHeader& header() const = 0;
  // Slices of the record live until the next call. Incomplete: there are no more; see IsWhole. IOError: the file could not
  // be read.
  virtual Status Read(TraceRecord* record) = 0;
  // After Incomplete: whether the trace was ended by EndTrace. Otherwise it ends at its first record that does not
  // validate: whoever wrote it has crashed, or the file is damaged there.
  [[nodiscard]] virtual bool IsWhole() const = 0;
  // Of the next record, or of the place where the trace ends.
  [[nodiscard]] virtual std::uint64_t Offset() const = 0;
  // Back to the first record.
  virtual Status Reset() = 0;
  virtual Status Close() = 0;
};

// Corruption if it is no trace, NotSupported if a later version wrote it.
Status NewFileTraceReader(std::shared_ptr<FileSystem> file_system, const std::string& path,
                          std::unique_ptr<TraceReader>* reader);

}  // namespace cambium

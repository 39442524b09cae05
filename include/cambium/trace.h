// Traces: the operations on a database, one by one, in a file that can be replayed and analysed.
//
//   cambium::Status s = db->StartTrace(cambium::TraceOptions(), "/var/tmp/store.trace");
//   ...
//   if (s.ok()) s = db->EndTrace();
//
// A trace records whole writes, lookups and scans: time, column family, keys, and lengths of values. It has the values
// themselves only if asked to, since a replay can make up values. Names are RocksDB's where they mean the same; the
// file format is this library's own, described in docs/format/traces.md. `cambium_bench trace` replays traces, analyses
// them, and prints them as text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "cambium/slice.h"
#include "cambium/status.h"

namespace cambium {

// What a trace leaves out: bits of TraceOptions::filter.
enum TraceFilterType : std::uint64_t {
  kTraceFilterNone = 0,
  kTraceFilterGet = 1u << 0,
  kTraceFilterWrite = 1u << 1,
  kTraceFilterIteratorSeek = 1u << 2,         // and SeekToFirst
  kTraceFilterIteratorSeekForPrev = 1u << 3,  // and SeekToLast
  kTraceFilterMultiGet = 1u << 4,
};

struct TraceOptions {
  // The trace ends, without an error, before a record that would make its file larger than this. At least 4 KiB.
  std::uint64_t max_trace_file_size = std::uint64_t{64} << 30;
  // Every n-th of the operations that pass the filter is recorded. At least 1, which records all.
  std::uint64_t sampling_frequency = 1;
  // Bits of TraceFilterType.
  std::uint64_t filter = kTraceFilterNone;
  // If true, writes are recorded in the order in which they become visible: each while it holds the lock on the end of
  // the log, which delays other writes. If false, each caller records its own write when it is done, and concurrent
  // writes may be recorded in either order.
  bool preserve_write_order = false;
  // Record the values of writes, not only their lengths.
  bool include_values = false;
};

// The destination of a trace. One thread at a time.
class TraceWriter {
 public:
  virtual ~TraceWriter() = default;
  // Appends. After an error nothing more is written.
  virtual Status Write(Slice data) = 0;
  virtual Status Close() = 0;
  // Bytes written so far.
  virtual std::uint64_t GetFileSize() = 0;
};

// Writes a file, which must not exist. Durable when Close returns. A null file_system means the library's own.
Status NewFileTraceWriter(std::shared_ptr<FileSystem> file_system, const std::string& path,
                          std::unique_ptr<TraceWriter>* writer);

enum class TraceType : unsigned char {
  kTraceEnd = 2,
  kTraceWrite = 3,
  kTraceGet = 4,
  kTraceIteratorSeek = 5,
  kTraceIteratorSeekForPrev = 6,
  kTraceMultiGet = 13,
  // Not in RocksDB.
  kTraceIteratorSeekToFirst = 32,
  kTraceIteratorSeekToLast = 33,
  kTraceIteratorDone = 34,  // ends a seek's scan: the iterator was repositioned or deleted
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

// What a record says about one key.
struct TraceOp {
  TraceOpType type = TraceOpType::kLookup;
  std::uint32_t family = 0;
  Slice key;
  Slice end_key;                 // of a range delete
  bool found = false;            // of a lookup
  std::uint64_t value_size = 0;  // of a put, or of the value that a lookup found
  Slice value;                   // of a put, if values are recorded
};

struct TraceRecord {
  TraceType type = kTraceEnd;
  std::uint64_t time_micros = 0;  // when the operation began, since the start of the trace
  // The operations of a batch or the keys of a MultiGet, in their order. One operation for a Get or a seek; it has no
  // key for SeekToFirst and SeekToLast. Empty for other records.
  std::vector<TraceOp> ops;
  bool sync = false;           // of a write
  std::uint64_t scan = 0;      // of a seek and its kTraceIteratorDone: unique in the trace, from 1
  std::uint64_t moves = 0;     // kTraceIteratorDone: number of Next and Prev calls
  std::uint64_t records = 0;   // kTraceEnd: number of records before it
  std::uint64_t left_out = 0;  // kTraceEnd: batches left out, as their record would exceed 256 MiB
  bool is_full = false;        // kTraceEnd: recording ended at max_trace_file_size
};

// The header of a trace.
struct TraceHeader {
  std::uint64_t wall_seconds = 0;  // when it began, since 1970
  std::uint64_t sampling_frequency = 1;
  std::uint64_t filter = kTraceFilterNone;
  bool preserve_write_order = false;
  bool include_values = false;
};

// Reads a trace, record by record. One thread at a time.
class TraceReader {
 public:
  virtual ~TraceReader() = default;
  [[nodiscard]] virtual const TraceHeader& header() const = 0;
  // Slices of the record are valid until the next call. Incomplete: there are no more records; see IsWhole. IOError:
  // the file could not be read.
  virtual Status Read(TraceRecord* record) = 0;
  // After Incomplete: whether EndTrace ended the trace. If not, the trace ends at the first record that does not
  // validate: its writer crashed, or the file is damaged there.
  [[nodiscard]] virtual bool IsWhole() const = 0;
  // The offset of the next record, or of the end of the trace.
  [[nodiscard]] virtual std::uint64_t Offset() const = 0;
  // Returns to the first record.
  virtual Status Reset() = 0;
  virtual Status Close() = 0;
};

// Corruption if it is not a trace, NotSupported if a later version wrote it.
Status NewFileTraceReader(std::shared_ptr<FileSystem> file_system, const std::string& path,
                          std::unique_ptr<TraceReader>* reader);

}  // namespace cambium

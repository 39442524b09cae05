// Reads a trace file, encodes its records, and decodes them again.
#include <memory>

#include "fuzz/target.h"
#include "io/sim/sim_file_system.h"
#include "trace/trace_format.h"

namespace cambium::fuzz {
namespace {

constexpr const char* kTracePath = "/db/recorded.trace";

void PromiseSameRecord(const TraceRecord& record, bool include_values) {
  const std::string body = EncodeTraceBody(record, include_values);
  TraceRecord again;
  Promise(DecodeTraceBody(body, record.type, include_values, &again),
          "a record of a trace that was written cannot be read");
  Promise(EncodeTraceBody(again, include_values) == body,
          "a record of a trace is written as other bytes the second time");
}

std::uint64_t ReadAll(TraceReader* reader, std::uint64_t size) {
  std::uint64_t records = 0;
  TraceRecord record;
  while (true) {
    const std::uint64_t before = reader->Offset();
    const Status s = reader->Read(&record);
    if (!s.ok()) {
      Promise(s.IsIncomplete(), "a trace does not end with Incomplete: " + s.ToString());
      return records;
    }
    Promise(reader->Offset() > before && reader->Offset() <= size,
            "a reader of traces does not advance within the file");
    PromiseSameRecord(record, reader->header().include_values);
    ++records;
  }
}

void FuzzTrace(Slice input) {
  const auto fs = std::make_shared<SimFileSystem>();
  if (!fs->tampering().WriteContents(kTracePath, input).ok()) return;
  std::unique_ptr<TraceReader> reader;
  const Status s = NewFileTraceReader(fs, kTracePath, &reader);
  if (!s.ok()) return PromiseDamage(s, kTracePath, "opening a trace");
  const std::uint64_t records = ReadAll(reader.get(), input.size());
  const bool is_whole = reader->IsWhole();
  Promise(reader->Reset().ok() && ReadAll(reader.get(), input.size()) == records && reader->IsWhole() == is_whole,
          "a trace reads in another way the second time");
  Promise(reader->Close().ok(), "a trace cannot be closed");
}

void AddTraceSeeds(const GoldenFiles& files, std::vector<std::string>* seeds) {
  for (const std::string& bytes : FilesWith(files, ".trace")) seeds->push_back(bytes);
}

}  // namespace

const Target kTraceTarget = {"trace", false, FuzzTrace, AddTraceSeeds};

}  // namespace cambium::fuzz

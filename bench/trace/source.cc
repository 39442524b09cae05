#include "trace/source.h"

#include <cassert>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <unordered_map>

#include "cambium/trace.h"
#include "trace/text.h"
#include "util/result.h"

namespace cambium::bench {
namespace {

class TextSource final : public TraceSource {
 public:
  TextSource(std::string path, std::ifstream in) : path_(std::move(path)), in_(std::move(in)) { facts_.is_text = true; }

  Status Next(TracedOp* op) override {
    while (std::getline(in_, line_)) {
      ++number_;
      facts_.end_offset += line_.size() + (in_.eof() ? 0 : 1);
      if (line_.empty() || line_[0] == '#') continue;
      Status parsed = ParseTraceLine(line_, op);
      if (!parsed.ok()) return parsed.WithContext(path_ + ":" + std::to_string(number_));
      if (op->IsScan() && !op->scan_length.has_value()) ++facts_.open_scans;
      return {};
    }
    if (in_.bad()) return Status::IOError(path_ + ": cannot be read: " + std::strerror(errno));
    return Status::Incomplete("no more lines");
  }
  [[nodiscard]] const TraceFacts& facts() const override { return facts_; }

 private:
  const std::string path_;
  std::ifstream in_;
  std::string line_;
  std::uint64_t number_ = 0;
  TraceFacts facts_;
};

TracedKind KindOf(const TraceRecord& record, const TraceOp& op) {
  switch (record.type) {
    case kTraceGet: return TracedKind::kGet;
    case kTraceMultiGet: return TracedKind::kMultiGet;
    case kTraceIteratorSeek: return TracedKind::kSeek;
    case kTraceIteratorSeekForPrev: return TracedKind::kSeekForPrev;
    case kTraceIteratorSeekToFirst: return TracedKind::kSeekToFirst;
    case kTraceIteratorSeekToLast: return TracedKind::kSeekToLast;
    default: break;
  }
  switch (op.type) {
    case TraceOpType::kDelete: return TracedKind::kDelete;
    case TraceOpType::kSingleDelete: return TracedKind::kSingleDelete;
    case TraceOpType::kDeleteRange: return TracedKind::kDeleteRange;
    default: return TracedKind::kPut;
  }
}

class RecordSource final : public TraceSource {
 public:
  RecordSource(std::string path, std::unique_ptr<TraceReader> reader, std::size_t window)
      : path_(std::move(path)), reader_(std::move(reader)), window_(window) {
    facts_.is_whole = false;
    facts_.sampling_frequency = reader_->header().sampling_frequency;
    facts_.filter = reader_->header().filter;
    facts_.wall_seconds = reader_->header().wall_seconds;
  }

  Status Next(TracedOp* op) override {
    while (!is_at_end_ && waiting_.size() < window_ && (waiting_.empty() || waiting_.front().scan != 0)) {
      CAMBIUM_RETURN_IF_ERROR(ReadOne());
    }
    if (waiting_.empty()) return Status::Incomplete("the trace has no more operations");
    Waiting& first = waiting_.front();
    if (first.scan != 0) {
      ++facts_.open_scans;
      scans_.erase(first.scan);
    }
    *op = std::move(first.op);
    waiting_.pop_front();
    ++gone_;
    return {};
  }
  [[nodiscard]] const TraceFacts& facts() const override { return facts_; }

 private:
  struct Waiting {
    TracedOp op;
    std::uint64_t scan = 0;  // the scan whose length is still unknown; 0: none
  };

  Status ReadOne() {
    const std::uint64_t offset = reader_->Offset();
    Status read = reader_->Read(&record_);
    facts_.end_offset = reader_->Offset();
    if (read.IsIncomplete()) {
      is_at_end_ = true;
      facts_.is_whole = reader_->IsWhole();
      return {};
    }
    CAMBIUM_RETURN_IF_ERROR(read);
    if (record_.type == kTraceEnd) {
      facts_.is_full = record_.is_full;
      facts_.left_out = record_.left_out;
      return {};
    }
    if (record_.type == kTraceIteratorDone) {
      const auto found = scans_.find(record_.scan);
      if (found == scans_.end()) return {};                                       // its seek was already returned
      assert(found->second >= gone_ && found->second - gone_ < waiting_.size());  // removed together with its seek
      Waiting& seek = waiting_[found->second - gone_];
      seek.op.scan_length = record_.moves;
      seek.scan = 0;
      scans_.erase(found);
      return {};
    }
    for (std::size_t i = 0; i < record_.ops.size(); ++i) {
      const TraceOp& from = record_.ops[i];
      Waiting& to = waiting_.emplace_back();
      to.op.micros = record_.time_micros;
      to.op.kind = KindOf(record_, from);
      to.op.family = from.family;
      to.op.key = from.key.ToString();
      to.op.end_key = from.end_key.ToString();
      if (from.found || to.op.kind == TracedKind::kPut) to.op.value_size = from.value_size;
      to.op.sync = record_.sync;
      to.op.more = i + 1 < record_.ops.size();
      if (to.op.IsScan()) {
        to.scan = record_.scan;
        if (!scans_.emplace(record_.scan, gone_ + waiting_.size() - 1).second) {
          return Status::Corruption(path_ + ":" + std::to_string(offset) + ": scan " + std::to_string(record_.scan) +
                                    " begins while another one of that number goes on");
        }
      }
    }
    return {};
  }

  const std::string path_;
  const std::unique_ptr<TraceReader> reader_;
  const std::size_t window_;
  TraceRecord record_;
  std::deque<Waiting> waiting_;
  std::uint64_t gone_ = 0;                                  // operations returned before them
  std::unordered_map<std::uint64_t, std::uint64_t> scans_;  // number -> operations before its seek
  bool is_at_end_ = false;
  TraceFacts facts_;
};

}  // namespace

Status OpenTrace(const std::string& path, std::unique_ptr<TraceSource>* source, std::size_t window) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Status::IOError("cannot open " + path + ": " + std::strerror(errno));
  char magic[8] = {};
  in.read(magic, sizeof(magic));
  if (in.gcount() == sizeof(magic) && std::memcmp(magic, "CAMTRACE", sizeof(magic)) == 0) {
    std::unique_ptr<TraceReader> reader;
    CAMBIUM_RETURN_IF_ERROR(NewFileTraceReader(nullptr, path, &reader));
    *source = std::make_unique<RecordSource>(path, std::move(reader), window);
    return {};
  }
  if (in.bad()) return Status::IOError("cannot read " + path + ": " + std::strerror(errno));
  in.clear();
  in.seekg(0);
  *source = std::make_unique<TextSource>(path, std::move(in));
  return {};
}

}  // namespace cambium::bench

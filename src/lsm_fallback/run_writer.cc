#include "lsm_fallback/run_writer.h"

#include <algorithm>
#include <utility>

namespace cambium {

RunWriter::RunWriter(const RunWriterOptions& options) : options_(options), order_(options.comparator) {}
RunWriter::~RunWriter() = default;

Status RunWriter::Add(Slice key, const Entry& entry) {
  if (builder_ != nullptr && MustEndBefore(key)) CAMBIUM_RETURN_IF_ERROR(End());
  if (builder_ == nullptr) CAMBIUM_RETURN_IF_ERROR(Begin());
  return builder_->Add(key, entry);
}

Result<RunList> RunWriter::Finish() {
  if (builder_ != nullptr) CAMBIUM_RETURN_IF_ERROR(End());
  return std::move(runs_);
}

// Counts the files that the run has come past: it reaches over all of them.
bool RunWriter::MustEndBefore(Slice key) {
  const std::vector<const RunInfo*>& files = options_.grandparents;
  for (; grandparent_ < files.size() && EndsBefore(order_, KeySpan::Of(*files[grandparent_]), key); ++grandparent_) {
    grandparent_bytes_ += files[grandparent_]->file_size;
  }
  return builder_->bytes_so_far() >= options_.target_bytes || builder_->IsFull() ||
         grandparent_bytes_ > options_.grandparent_bytes_max;
}

Status RunWriter::Begin() {
  CAMBIUM_TRY(NewIndexFile made, options_.create_file());
  if (made.header.number == 0 || made.header.number > kPageFileNumberMax) {
    return Status::InvalidArgument("file number " + std::to_string(made.header.number) + " does not fit page ids");
  }
  file_ = std::move(made.file);
  grandparent_bytes_ = 0;
  builder_ = std::make_unique<RunBuilder>(file_, made.header, options_.comparator, options_.run);
  return Status::OK();
}

Status RunWriter::End() {
  CAMBIUM_TRY(const RunInfo info, builder_->Finish());
  builder_.reset();
  if (Status s = file_->SyncData(); !s.ok()) return s.IsNoSpace() ? std::move(s) : s.Fatal();
  // The builder has seen to the order within the run.
  if (!runs_.empty() && order_.Compare(runs_.back()->info().largest_key, info.smallest_key) >= 0) {
    return Status::Corruption(file_->path() + ": keys out of order between the runs of a compaction");
  }
  CAMBIUM_TRY(std::shared_ptr<const Run> run, Run::Open(std::move(file_), info, options_.comparator, options_.pool));
  bytes_written_ += info.file_size;
  runs_.push_back(std::move(run));
  return Status::OK();
}

}  // namespace cambium

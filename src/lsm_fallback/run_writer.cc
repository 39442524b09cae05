#include "lsm_fallback/run_writer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "util/mutant.h"

namespace cambium {
namespace {

// False only in a mutant, in which runs are committed unsynced.
bool SyncsRuns() { return !MutantIs(Mutant::kCommitBeforeRunSync); }

}  // namespace

RunWriter::RunWriter(const RunWriterOptions& options) : options_(options), order_(options.comparator) {}
RunWriter::~RunWriter() = default;

Status RunWriter::Add(Slice key, const Entry& entry) {
  CAMBIUM_RETURN_IF_ERROR(PassGrandparents(&key));
  if (builder_ != nullptr && (builder_->bytes_so_far() >= options_.target_bytes || builder_->IsFull() ||
                              grandparent_bytes_ > options_.grandparent_bytes_max)) {
    CAMBIUM_RETURN_IF_ERROR(CutAt(&key));
  }
  if (builder_ == nullptr) {
    if (!HasRangesBefore(&key)) grandparent_bytes_ = 0;
    CAMBIUM_RETURN_IF_ERROR(Begin());
  }
  return builder_->Add(key, entry);
}

Result<RunList> RunWriter::Finish() {
  if (!options_.ranges.empty()) CAMBIUM_RETURN_IF_ERROR(PassGrandparents(nullptr));
  CAMBIUM_RETURN_IF_ERROR(CutAt(nullptr));
  return std::move(runs_);
}

bool RunWriter::HasRangesBefore(const Slice* border) const {
  if (options_.ranges.empty()) return false;
  const Slice from = border_.has_value() ? Slice(*border_) : Slice();
  return options_.ranges.Overlaps(border_.has_value() ? &from : nullptr, border);
}

Status RunWriter::PassGrandparents(const Slice* key) {
  const std::vector<const RunInfo*>& files = options_.grandparents;
  while (grandparent_ < files.size() &&
         (key == nullptr || EndsBefore(order_, KeySpan::Of(*files[grandparent_]), *key))) {
    grandparent_bytes_ += files[grandparent_]->file_size;
    ++grandparent_;
    if (options_.ranges.empty() || grandparent_bytes_ <= options_.grandparent_bytes_max) continue;
    if (grandparent_ == files.size()) break;
    const Slice next = files[grandparent_]->smallest_key;
    if (key == nullptr || order_.Compare(next, *key) < 0) CAMBIUM_RETURN_IF_ERROR(CutAt(&next));
  }
  return Status::OK();
}

Status RunWriter::CutAt(const Slice* border) {
  const bool has_ranges = HasRangesBefore(border);
  if (builder_ != nullptr || has_ranges) {
    if (builder_ == nullptr) CAMBIUM_RETURN_IF_ERROR(Begin());
    if (has_ranges) {
      const Slice from = border_.has_value() ? Slice(*border_) : Slice();
      CAMBIUM_RETURN_IF_ERROR(
          builder_->AddRanges(options_.ranges.Within(border_.has_value() ? &from : nullptr, border)));
    }
    CAMBIUM_RETURN_IF_ERROR(End());
  }
  if (border != nullptr) border_ = border->ToString();
  grandparent_bytes_ = 0;
  return Status::OK();
}

Status RunWriter::Begin() {
  assert(builder_ == nullptr);
  CAMBIUM_TRY(NewIndexFile made, options_.create_file());
  if (made.header.number == 0 || made.header.number > kPageFileNumberMax) {
    return Status::InvalidArgument("file number " + std::to_string(made.header.number) + " does not fit page ids");
  }
  file_ = std::move(made.file);
  builder_ = std::make_unique<RunBuilder>(file_, made.header, options_.comparator, options_.run);
  return Status::OK();
}

Status RunWriter::End() {
  assert(builder_ != nullptr && file_ != nullptr);
  CAMBIUM_TRY(const RunInfo info, builder_->Finish());
  builder_.reset();
  if (SyncsRuns() && options_.syncs == nullptr) {
    if (Status s = file_->SyncData(); !s.ok()) return s.IsNoSpace() ? std::move(s) : s.Fatal();
  } else if (SyncsRuns()) {
    options_.syncs->Add(file_, /*is_new=*/true);
  }
  // The builder has checked the order within the run.
  if (!runs_.empty() && !EndsBefore(order_, KeySpan::Of(runs_.back()->info()), info.smallest_key)) {
    return Status::Corruption(file_->path() + ": keys out of order between the runs of a compaction");
  }
  CAMBIUM_TRY(std::shared_ptr<const Run> run, Run::Open(std::move(file_), info, options_.comparator, options_.pool));
  bytes_written_ += info.file_size;
  runs_.push_back(std::move(run));
  return Status::OK();
}

}  // namespace cambium

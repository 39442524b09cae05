// Tracing: what is recorded of reads, and where a trace begins and ends. Writes record themselves in db_write.cc, scans in
// db_iterator.cc.
#include "api/db_impl.h"

namespace cambium {

Status DbImpl::StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter>&& writer) {
  CAMBIUM_RETURN_IF_ERROR(CheckRead({}));
  const auto take = [&](std::unique_ptr<TraceWriter>* its) {
    *its = std::move(writer);
    return Status::OK();
  };
  return traces_.Start(options, take, options_.clock.get(), options_.random_source.get());
}

// The file is made only for options that are legal, where no trace is running.
Status DbImpl::StartTrace(const TraceOptions& options, const std::string& path) {
  CAMBIUM_RETURN_IF_ERROR(CheckRead({}));
  const auto make = [&](std::unique_ptr<TraceWriter>* writer) { return NewFileTraceWriter(fs_, path, writer); };
  return traces_.Start(options, make, options_.clock.get(), options_.random_source.get());
}

Status DbImpl::EndTrace() {
  CAMBIUM_RETURN_IF_ERROR(CheckRead({}));
  return traces_.End();
}

void DbImpl::TraceGet(TracedCall* traced, const ColumnFamilyHandle* family, Slice key, const Status& status,
                      Slice value) noexcept {
  if (!status.ok() && !status.IsNotFound()) return;
  traced->Describe(kTraceGet, [&](TraceRecord* record) {
    TraceOp& op = record->ops.emplace_back();
    op.family = family->GetID();
    op.key = key;
    op.found = status.ok();
    op.value_size = value.size();
  });
  if (traced->is_on()) traced->Record();
}

void DbImpl::TraceMultiGet(TracedCall* traced, std::span<ColumnFamilyHandle* const> families, const Slice* keys,
                           const PinnableSlice* values, const Status* statuses) noexcept {
  traced->Describe(kTraceMultiGet, [&](TraceRecord* record) {
    for (std::size_t i = 0; i < families.size(); ++i) {
      if (!statuses[i].ok() && !statuses[i].IsNotFound()) continue;
      TraceOp& op = record->ops.emplace_back();
      op.family = families[i]->GetID();
      op.key = keys[i];
      op.found = statuses[i].ok();
      op.value_size = op.found ? values[i].size() : 0;
    }
  });
  if (traced->is_on()) traced->Record();
}

}  // namespace cambium

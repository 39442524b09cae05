// PrivateRunsBuilder: writes several runs into one file, which only snapshots read.
//
//   header | pages of the first run | pages of the second run | ...
//
// No MANIFEST names the file, and no Open reads it. So it has neither footers nor filters nor range deletes: these are
// only in memory, and a run takes as few pages as its entries need.
#pragma once

#include <memory>
#include <string>

#include "index/run.h"
#include "index/run_sink.h"

namespace cambium {

// One thread. After an error, the file is garbage.
class PrivateRunsBuilder {
 public:
  // `file` is empty and open for writing; kind and page size of `header` are set here. `pool` must outlive the runs.
  PrivateRunsBuilder(std::shared_ptr<File> file, FileHeader header, const Comparator* comparator,
                     const RunOptions& options, PagePool* pool);

  // Adds a run of the entries from the cursor's position on, until the cursor ends or the file is full, and of the
  // range deletes, unless null. The run may be read after Finish.
  Result<std::shared_ptr<const Run>> Add(EntryCursor* cursor, std::shared_ptr<const RangeDeletes> ranges);
  Status Finish() { return sink_.Flush(); }

  // True if no further run fits.
  [[nodiscard]] bool IsFull() const { return sink_.IsFull(); }
  [[nodiscard]] const std::string& path() const { return pages_->path(); }
  [[nodiscard]] std::uint64_t bytes() const { return sink_.size(); }

 private:
  const RunOptions options_;
  const FileHeader header_;
  const Comparator* const comparator_;
  PagePool* const pool_;
  RunSink sink_;
  const std::shared_ptr<const IndexFile> pages_;
};

}  // namespace cambium

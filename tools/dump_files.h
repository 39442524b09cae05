// Dumps single files as far as they can be read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "cambium/comparator.h"
#include "inspect/database.h"
#include "inspect/page_walk.h"
#include "inspect/problems.h"
#include "inspect/record_fate.h"
#include "io/file_header.h"
#include "manifest/state.h"
#include "progress.h"
#include "stream.h"

namespace cambium::tool {

// The keys to print, and the form.
struct DumpChoice {
  std::optional<std::string> from;
  std::optional<std::string> to;
  std::optional<std::string> prefix;
  bool hex = false;
  bool json = false;
  bool entries = true;  // of pages; false: only page headers
  [[nodiscard]] bool chooses() const { return from.has_value() || to.has_value() || prefix.has_value(); }
  [[nodiscard]] bool Wants(const Comparator& order, Slice key) const;
};

class FileDumper {
 public:
  // `database` may be null: each file is then dumped by itself, without marks.
  FileDumper(const DumpChoice& choice, InspectedDatabase* database, Stream* out, Problems* problems)
      : choice_(choice), database_(database), out_(out), problems_(problems) {}

  // Dump a segment that the MANIFEST names, or a file by its path. Damage is printed, and counted among the problems.
  // Other errors are returned. A closed output is OK.
  Status DumpSegment(const SegmentInfo& info);
  Status DumpLog(const std::string& path);  // also relocation segments
  Status DumpLargeValue(const std::string& path);
  // `end`: where the pages end; 0: at the end of the file. `live`: whether the tree reaches a page; empty if unknown.
  Status DumpIndexSegment(const std::string& path, const Comparator& order, std::uint64_t end,
                          const std::function<bool(PageId)>& live);
  Status DumpRun(const std::string& path, const Comparator& order);
  Status DumpManifest(const std::string& path);
  Status DumpOptions(const std::string& path);
  Status DumpBackupRecord(const std::string& path);
  Status DumpHeader(const std::string& path);

  // Prints a problem where it is found.
  void Report(const std::string& problem);

 private:
  struct Opened {
    std::unique_ptr<File> file;
    FileHeader header;
    std::uint64_t size = 0;
  };
  Result<Opened> Open(const std::string& path);
  // Prints `s` if it is damage, and returns OK; else returns it.
  Status ReportDamage(const Status& s);
  Status WalkLog(const File& file, std::uint64_t seed, std::uint64_t end, const SegmentInfo* info);
  Status DumpRecord(const std::string& name, const SegmentInfo* info, std::uint64_t offset, const RecordHeader& header,
                    Slice key, Slice stored);
  Status WalkPagesOf(const Opened& opened, const Comparator& order, std::uint64_t end,
                     const std::function<bool(PageId)>& live);
  // `name`: of the file, without its directory. `live` null: not known.
  void DumpPage(const std::string& name, const WalkedPage& page, const std::function<bool(PageId)>& live);
  void DumpEntries(const std::string& name, const WalkedPage& page, const Comparator& order);
  void Write(const nlohmann::ordered_json& json, const std::string& text);

  const DumpChoice& choice_;
  InspectedDatabase* const database_;
  Stream* const out_;
  Problems* const problems_;
  Progress progress_;
};

}  // namespace cambium::tool

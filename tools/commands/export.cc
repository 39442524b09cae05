// cambium export DIR FILE: writes all entries as JSON lines.
#include <algorithm>
#include <memory>
#include <optional>

#include "database.h"
#include "interrupt.h"
#include "jsonl.h"
#include "key_text.h"
#include "new_file.h"
#include "output.h"
#include "progress.h"

namespace cambium::tool {
namespace {

struct ExportFlags : DatabaseFlags {
  std::string file;
  bool one_family = false;
};

struct ExportCounts {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t expected = 0;  // entries, by the database's estimate
};

// Estimates the total size from the entries written so far. The estimate of entries also counts overwritten ones.
std::uint64_t Forecast(const ExportCounts& counts) {
  if (counts.entries == 0) return 0;
  const double each = static_cast<double>(counts.bytes) / static_cast<double>(counts.entries);
  return static_cast<std::uint64_t>(each * static_cast<double>(std::max(counts.entries, counts.expected)));
}

// `begin`: the line up to the key.
Status WriteEntry(const std::string& begin, Slice key, Slice value, NewFile* out) {
  Status s = out->Write(begin + FormatInJson(key, false) + R"(","value":")");
  const bool is_out = s.ok() && PutInPieces(value, [&](Slice piece) {
    s = out->Write(FormatInJson(piece, false));
    return s.ok();
  });
  return is_out ? out->Write("\"}\n") : s;
}

Status ExportFamily(DB* db, ColumnFamilyHandle* family, NewFile* out, Progress* progress, ExportCounts* counts) {
  const std::string named = R"({"family":")" + FormatInJson(family->GetName(), false) + "\",\"";
  const std::string order = nlohmann::json(family->GetComparator()->Name()).dump();
  if (const Status s = out->Write(named + R"(comparator":)" + order + "}\n"); !s.ok()) return s;
  const std::string begin = named + R"(key":")";
  ReadOptions options;
  options.allow_unprepared_value = true;
  const std::unique_ptr<Iterator> it(db->NewIterator(options, family));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (Interrupts::HasCome()) return Status::Incomplete("interrupted");
    if (!it->PrepareValue()) break;
    if (const Status s = WriteEntry(begin, it->key(), it->value(), out); !s.ok()) return s;
    ++counts->entries;
    counts->bytes += it->key().size() + it->value().size();
    progress->Show(counts->bytes, Forecast(*counts));
  }
  return it->status();
}

int Export(const ExportFlags& flags) {
  ExportCounts counts;
  Database database;
  Status s = database.OpenToRead(flags.directory);
  ColumnFamilyHandle* only = nullptr;
  if (s.ok() && flags.one_family) s = database.Find(flags.family, &only);
  if (!s.ok()) return Fail(s, flags.json);
  for (ColumnFamilyHandle* const family : database.handles()) {
    std::uint64_t keys = 0;
    if (only != nullptr && only != family) continue;
    if (database.db()->GetIntProperty(family, "cambium.estimate-num-keys", &keys)) counts.expected += keys;
  }
  {
    std::optional<Interrupts> interrupts;
    if (flags.file != "-") interrupts.emplace();
    NewFile out(flags.file);
    Progress progress;
    s = out.Open();
    if (s.ok()) s = out.Write(nlohmann::ordered_json{{kExportName, kExportVersion}}.dump() + "\n");
    for (ColumnFamilyHandle* const family : database.handles()) {
      if (s.ok() && (only == nullptr || only == family)) {
        s = ExportFamily(database.db(), family, &out, &progress, &counts);
      }
    }
    if (s.ok()) s = out.Write(nlohmann::ordered_json{{"end", true}, {"entries", counts.entries}}.dump() + "\n");
    if (s.ok()) s = out.Finish();
    Interrupts::ThrowIfEnded(s, flags.file + " is unchanged");
  }
  if (!s.ok()) return Fail(s, flags.json && flags.file != "-");
  if (flags.file == "-") return kClean;
  if (flags.json) return Say(nlohmann::ordered_json{{"entries", counts.entries}, {"bytes", counts.bytes}});
  return Say(flags.file + ": " + std::to_string(counts.entries) + " entries, " + Bytes(counts.bytes) + " bytes\n");
}

}  // namespace

void AddExport(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* command = app->add_subcommand("export", "Writes all entries to a file, one JSON object per line.");
  AddDirectory(command, flags.get());
  command->add_option("FILE", flags->file, "the file; - is stdout")->required();
  CLI::Option* const family = command->add_option("--column-family", flags->family, "only entries of this family");
  AddJson(command, flags.get());
  command->footer("Example: cambium export DIR - | gzip > entries.gz\nThe file appears once it is complete. A device or a "
                  "pipe is written to directly.");
  command->callback([flags, family, exit_code] {
    flags->one_family = family->count() > 0;
    *exit_code = Export(*flags);
  });
}

}  // namespace cambium::tool

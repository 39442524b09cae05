// cambium convert DIR OUT: makes a database with the same data and the other index, with ConvertIndex.
#include "cambium/convert.h"

#include <memory>
#include <string>

#include "copy_plan.h"
#include "database.h"
#include "interrupt.h"
#include "key_text.h"
#include "output.h"
#include "progress.h"

namespace cambium::tool {
namespace {

struct ConvertFlags : DatabaseFlags {
  std::string out;
  std::string index;
  bool dry_run = false;
};

int Run(const ConvertFlags& flags) {
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  if (const Status known = OptionsOf(flags.directory, &options, &families); !known.ok()) return Fail(known, flags.json);
  const Interrupts interrupts;
  Progress progress(ProgressUnit::kEntries);
  ConvertOptions how;
  how.progress = [&](std::uint64_t done, std::uint64_t all) {
    Interrupts::ThrowIfCome();
    progress.Show(done, all);
  };
  how.dry_run = flags.dry_run;
  ConvertReport report;
  const Status s = ConvertIndex(options, flags.directory, families, flags.index == "lsm" ? kLsm : kBTree, flags.out,
                                how, &report);
  if (!s.ok()) return Fail(s, flags.json);
  if (flags.json) {
    nlohmann::ordered_json json{{"directory", flags.directory},
                                      {flags.dry_run ? "would_be" : "converted", flags.out},
                                      {"index", flags.index},
                                      {"families", report.families},
                                      {"entries", report.entries},
                                      {"index_bytes_before", report.index_bytes_before},
                                      {"index_bytes_after", report.index_bytes_after},
                                      {"log_bytes", report.log_bytes}};
    if (flags.dry_run) json.update(JsonOf(report.plan));
    return Say(json);
  }
  if (flags.dry_run) {
    return Say("would make " + std::to_string(report.entries) + " entries of " + std::to_string(report.families) +
               " families, " + Bytes(report.index_bytes_after) + " bytes of index, and share " + Bytes(report.log_bytes) +
               " bytes of log\n" + LinesOf(report.plan));
  }
  return Say(flags.out + ": is " + flags.directory + " with index_type " + flags.index + "; " + std::to_string(report.families) +
             " families, " + std::to_string(report.entries) + " entries, " + Bytes(report.index_bytes_after) +
             " bytes of index; shares " + Bytes(report.log_bytes) + " bytes of log\n");
}

}  // namespace

void AddConvert(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<ConvertFlags>();
  CLI::App* command = app->add_subcommand(
      "convert", "Makes a database with the same data and the other index in a new directory. Values are shared.");
  AddDirectory(command, flags.get());
  command->add_option("OUT", flags->out, "the new database's directory, which must not exist")->required();
  command->add_option("--index", flags->index, "the index of all its column families: btree or lsm")
      ->required()
      ->check(CLI::IsMember({"btree", "lsm"}));
  command->add_flag("--dry-run", flags->dry_run,
                    "convert in memory; print what would be linked and written, or the error; write nothing");
  AddJson(command, flags.get());
  command->footer(
      "Example: cambium convert DIR DIR-lsm --index lsm\n"
      "DIR is only read. Log segments become hard links, so only the new index takes space.");
  command->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace cambium::tool

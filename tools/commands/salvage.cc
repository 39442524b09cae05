// cambium salvage DIR OUT: makes a new database from what survives of a damaged one, with RepairDB.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cambium/convenience.h"
#include "cambium/repair.h"
#include "database.h"
#include "interrupt.h"
#include "key_text.h"
#include "output.h"
#include "progress.h"

namespace cambium::tool {
namespace {

struct SalvageFlags : DatabaseFlags {
  std::string out;
  bool include_unproven = false;
  bool is_filtered = false;
  bool dry_run = false;
  bool quiet = false;
};

// Prints findings as they occur: their number is not bounded.
class Listing {
 public:
  explicit Listing(const SalvageFlags& flags) : flags_(flags) {}

  void Lost(const RepairLoss& loss) {
    if (flags_.json) {
      nlohmann::ordered_json line = {{"lost", loss.what}};
      if (!loss.family.empty()) line["family"] = loss.family;
      if (loss.key.has_value()) line["key"] = Format(*loss.key, flags_.hex);
      if (loss.begin.has_value()) line["begin"] = Format(*loss.begin, flags_.hex);
      if (loss.end.has_value()) line["end"] = Format(*loss.end, flags_.hex);
      if (loss.entries > 0) line["entries"] = loss.entries;
      return Print(line);
    }
    std::string text = "lost: ";
    if (loss.key.has_value()) {
      text += "key " + Format(*loss.key, flags_.hex) + FamilyOf(loss.family) + ": ";
    } else if (loss.begin.has_value() || loss.end.has_value() || loss.entries > 0) {
      text += (loss.entries > 0 ? std::to_string(loss.entries) + " entries" : "entries") + FamilyOf(loss.family);
      if (loss.begin.has_value()) text += " from " + Format(*loss.begin, flags_.hex);
      if (loss.end.has_value()) text += " to " + Format(*loss.end, flags_.hex);
      text += ": ";
    }
    Print(text + loss.what + "\n");
  }

  void Unproven(const RepairUnproven& unproven) {
    if (flags_.json) {
      return Print(nlohmann::ordered_json{{"unproven", Format(unproven.key, flags_.hex)},
                                          {"family", unproven.family},
                                          {"sequence", unproven.sequence},
                                          {"value_bytes", unproven.value_bytes},
                                          {"where", unproven.where},
                                          {"written", unproven.is_written}});
    }
    Print("unproven: key " + Format(unproven.key, flags_.hex) + FamilyOf(unproven.family) + ", " +
          std::to_string(unproven.value_bytes) + " bytes" +
          (unproven.sequence == 0 ? "" : ", operation " + std::to_string(unproven.sequence)) + ", at " +
          unproven.where + (unproven.is_written ? "; written\n" : "\n"));
  }

  // The exit code of a salvage that returns `found`. A reader that has closed the pipe is no failure.
  [[nodiscard]] ExitCode End(ExitCode found) {
    Take("");
    const bool is_lost = !is_out_ && errno_ != EPIPE;
    if (is_lost)
      std::fprintf(stderr, "cambium: stdout: %s; %s is complete\n", std::strerror(errno_), flags_.out.c_str());
    return is_lost ? kCannot : found;
  }
  void Print(const std::string& text) { Take(text); }
  void Print(const nlohmann::ordered_json& line) {
    Take(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }

 private:
  static std::string FamilyOf(const std::string& name) {
    return name.empty() || name == kDefaultColumnFamilyName ? "" : " of column family " + Escape(name);
  }
  void Take(const std::string& text) {
    if (!is_out_) return;
    is_out_ =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && (!text.empty() || std::fflush(stdout) == 0);
    if (!is_out_) errno_ = errno;
  }

  const SalvageFlags& flags_;
  bool is_out_ = true;
  int errno_ = 0;  // why not
};

// Finds the options that the database was last open with, if an OPTIONS file has them. RepairDB finds the rest in the
// database. Denied if the system denies this process the file.
Status FindOptions(const std::string& directory, DBOptions* options, std::vector<ColumnFamilyDescriptor>* families) {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  const Status known = LoadLatestOptions(config, directory, options, families);
  if (!known.ok()) {
    *options = {};
    families->clear();
  }
  options->info_log = NullLogger();
  return known.IsDenied() ? known : Status::OK();
}

nlohmann::ordered_json ReportJson(const SalvageFlags& flags, const RepairReport& report) {
  nlohmann::ordered_json families = nlohmann::ordered_json::array();
  for (const RepairedFamily& family : report.families) {
    families.push_back({{"family", family.name}, {"entries", family.entries}, {"value_bytes", family.value_bytes}});
  }
  return {{"end", true},
          {"directory", flags.directory},
          {"out", flags.out},
          {"dry_run", flags.dry_run},
          {"has_manifest", report.has_manifest},
          {"mended", report.mended},
          {"newest_known", report.newest_known.has_value() ? nlohmann::ordered_json(*report.newest_known) : nullptr},
          {"families", families},
          {"lost", report.lost},
          {"unproven", report.unproven},
          {"notes", report.notes}};
}

std::string TextOf(const SalvageFlags& flags, const RepairReport& report) {
  std::string text;
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  for (const RepairedFamily& family : report.families) {
    text += std::string(flags.dry_run ? "would have: " : "") + "column family " + Escape(family.name) + ": " +
            std::to_string(family.entries) + (family.entries == 1 ? " entry, " : " entries, ") +
            Bytes(family.value_bytes) + " bytes of values\n";
  }
  text += "lost: " + std::to_string(report.lost) + ", unproven: " + std::to_string(report.unproven) +
          (report.unproven > 0 && !flags.include_unproven ? " (--include-unproven writes them)" : "") + "\n";
  if (report.newest_known.has_value()) {
    text += "values may be older than operation " + std::to_string(*report.newest_known + 1) +
            " of the log, where its damage begins: unreadable records may have replaced or deleted any key\n";
  }
  if (!report.has_manifest) {
    text += "the MANIFEST is lost: only the log says what is newest; missing segments at its end may go unnoticed\n";
  }
  return text + flags.out + (flags.dry_run ? ": not created\n" : ": salvaged from " + flags.directory + "\n");
}

int Run(const SalvageFlags& flags) {
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  if (const Status known = FindOptions(flags.directory, &options, &families); !known.ok()) {
    return Fail(known, flags.json);
  }
  const Interrupts interrupts;
  Listing listing(flags);
  Progress progress;
  RepairOptions how;
  how.include_unproven = flags.include_unproven;
  how.is_filtered = flags.is_filtered;
  how.dry_run = flags.dry_run;
  how.progress = [&](std::uint64_t done, std::uint64_t all) {
    Interrupts::ThrowIfCome();
    progress.Show(done, all);
  };
  if (!flags.quiet) {
    how.on_lost = [&](const RepairLoss& loss) { listing.Lost(loss); };
    how.on_unproven = [&](const RepairUnproven& unproven) { listing.Unproven(unproven); };
  }
  RepairReport report;
  const Status s = RepairDB(flags.directory, flags.out, options, families, how, &report);
  if (!s.ok()) return Fail(s, flags.json);
  if (flags.json) {
    listing.Print(ReportJson(flags, report));
  } else {
    listing.Print(TextOf(flags, report));
  }
  return listing.End(report.IsClean() ? kClean : kDamage);
}

}  // namespace

void AddSalvage(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<SalvageFlags>();
  CLI::App* command =
      app->add_subcommand("salvage", "Makes a new database from what survives of a damaged one, and lists the losses.");
  AddDirectory(command, flags.get());
  command->add_option("OUT", flags->out, "the new database's directory, which must not exist")->required();
  command->add_flag("--include-unproven", flags->include_unproven,
                    "also write values that may be old, or of deleted keys");
  command->add_flag("--filtered", flags->is_filtered,
                    "a compaction filter was used: values it removed that are still in the log are unproven");
  command->add_flag("--dry-run", flags->dry_run, "print the result, and leave nothing");
  command->add_flag("--quiet", flags->quiet, "only count what is lost or unproven, without listing it");
  AddHex(command, flags.get());
  command->add_flag("--json", flags->json, "print one JSON object per line instead of text, the last one with \"end\"");
  command->footer(
      "Example: cambium salvage DIR DIR-salvaged\n"
      "DIR is never changed. Exit code 1 if anything is lost or unproven; OUT is created nevertheless.");
  command->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace cambium::tool

// cambium verify DIR: checks a database without changing it, with VerifyDB.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cambium/comparator.h"
#include "cambium/convenience.h"
#include "cambium/db.h"
#include "command.h"
#include "output.h"
#include "prepared.h"
#include "progress.h"
#include "verify_report.h"

namespace cambium::tool {
namespace {

struct VerifyFlags {
  std::string directory;
  bool deep = false;
  bool json = false;
  const Comparator* comparator = nullptr;  // null: any
};

// Whether Open succeeds depends on the options, so they are taken from the OPTIONS file, if there is one. The MANIFEST
// has everything that this command must know about the families. Other commands open the database to find out the
// options of families; on a damaged database that could fail.
Status FindOptions(const std::string& directory, DBOptions* options) {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  std::vector<ColumnFamilyDescriptor> families;
  const Status known = LoadLatestOptions(config, directory, options, &families);
  if (!known.ok()) *options = {};
  options->info_log = NullLogger();
  return known;
}

// Checks the records of prepared transactions, if nothing else is wrong: for that, the database has to be opened.
void CheckPrepared(const std::string& directory, VerifyOutcome* outcome) {
  if (ExitCodeOf(*outcome) != kClean) return;
  std::vector<std::string> families;
  std::vector<PreparedTransaction> prepared;
  Status s = DB::ListColumnFamilies({}, directory, &families);
  if (s.ok()) s = FindPrepared(directory, families, &prepared);
  outcome->prepared = prepared.size();
  VerifyReport& report = outcome->report;
  if (s.IsCorruption() || s.IsNotSupported()) {
    report.problems.push_back(s.ToString());
    ++report.problem_count;
  } else if (!s.ok()) {
    report.notes.push_back("prepared transactions could not be checked: " + s.ToString());
    ++report.note_count;
  }
}

int Verify(const VerifyFlags& flags) {
  DBOptions options;
  VerifyOutcome outcome;
  outcome.path = flags.directory;
  outcome.deep = flags.deep;
  outcome.options = FindOptions(flags.directory, &options);
  outcome.recovery_mode = options.wal_recovery_mode;
  std::vector<ColumnFamilyDescriptor> families;
  if (flags.comparator != nullptr) {
    outcome.comparator = flags.comparator->Name();
    families.emplace_back(kDefaultColumnFamilyName, ColumnFamilyOptions());
    families.back().options.comparator = flags.comparator;
  }
  VerifyOptions how;
  how.deep = flags.deep;
  {
    Progress progress;
    how.progress = [&progress](std::uint64_t done, std::uint64_t all) { progress.Show(done, all); };
    outcome.status = VerifyDB(flags.directory, options, families, how, &outcome.report);
  }
  CheckPrepared(flags.directory, &outcome);
  const std::string text = flags.json ? DrawJson(outcome) : DrawText(outcome);
  const ExitCode said = Say(text);
  return said == kClean ? ExitCodeOf(outcome) : said;
}

}  // namespace

void AddVerify(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* command = app->add_subcommand(
      "verify", "Checks every checksum, every index entry against its record, and the accounts. Writes nothing.");
  command->add_option("DIR", flags->directory, "the database's directory")->required();
  command->add_flag("--deep", flags->deep, "also read every value and log record, and compare their checksums");
  command->add_flag("--json", flags->json, "print one JSON object instead of text");
  command
      ->add_option_function<std::string>(
          "--comparator",
          [flags](const std::string& name) {
            flags->comparator = name == "bytewise" ? BytewiseComparator() : ReverseBytewiseComparator();
          },
          "fail unless the default family's comparator is this one: bytewise or reverse-bytewise")
      ->check(CLI::IsMember({"bytewise", "reverse-bytewise"}));
  command->callback([flags, exit_code] { *exit_code = Verify(*flags); });
}

}  // namespace cambium::tool

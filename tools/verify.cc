// cambium verify DIR: checks a database without changing it. VerifyDB does the work; this is its face.
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "cambium/comparator.h"
#include "cambium/db.h"
#include "command.h"
#include "progress.h"
#include "verify_report.h"

namespace cambium::tool {
namespace {

struct Flags {
  std::string directory;
  bool deep = false;
  bool json = false;
  const Comparator* comparator = BytewiseComparator();
};

int Verify(const Flags& flags) {
  Options options;
  options.comparator = flags.comparator;
  options.info_log = NullLogger();
  VerifyOptions how;
  how.deep = flags.deep;
  VerifyOutcome outcome{flags.directory, flags.comparator->Name(), flags.deep, {}, {}};
  {
    Progress progress;
    how.progress = [&progress](std::uint64_t done, std::uint64_t all) { progress.Show(done, all); };
    outcome.status = VerifyDB(flags.directory, options, how, &outcome.report);
  }
  const std::string text = flags.json ? DrawJson(outcome) : DrawText(outcome);
  // A verdict that did not reach whoever asked is no verdict.
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) return kCannot;
  return ExitCodeOf(outcome);
}

}  // namespace

void AddVerify(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app->add_subcommand(
      "verify", "Checks every checksum, every index entry against its record, and the accounts. Writes nothing.");
  command->add_option("DIR", flags->directory, "the database's directory")->required();
  command->add_flag("--deep", flags->deep, "read every value and every record of the log too, and compare their checksums");
  command->add_flag("--json", flags->json, "print one JSON object instead of text");
  command
      ->add_option_function<std::string>(
          "--comparator",
          [flags](const std::string& name) {
            flags->comparator = name == "bytewise" ? BytewiseComparator() : ReverseBytewiseComparator();
          },
          "order of the keys: bytewise (default) or reverse-bytewise")
      ->check(CLI::IsMember({"bytewise", "reverse-bytewise"}));
  command->callback([flags, exit_code] { *exit_code = Verify(*flags); });
}

}  // namespace cambium::tool

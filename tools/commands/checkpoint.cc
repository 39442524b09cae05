// cambium checkpoint DIR OUT: copies a database that no process has open, with hard links where possible.
#include "cambium/checkpoint.h"

#include <memory>

#include "copy_plan.h"
#include "database.h"
#include "interrupt.h"
#include "output.h"
#include "progress.h"

namespace cambium::tool {
namespace {

struct CheckpointFlags : DatabaseFlags {
  std::string out;
  bool dry_run = false;
};

int Run(const CheckpointFlags& flags) {
  DBOptions options;
  options.info_log = NullLogger();
  if (flags.dry_run) {
    CopyPlan plan;
    const Status planned = PlanCheckpointOffline(options, flags.directory, flags.out, &plan);
    return SayPlan(planned, plan, flags.json);
  }
  const Interrupts interrupts;
  Progress progress;
  const Status s = CheckpointOffline(options, flags.directory, flags.out, [&](std::uint64_t done, std::uint64_t all) {
    Interrupts::ThrowIfCome();
    progress.Show(done, all);
  });
  if (!s.ok()) return Fail(s, flags.json);
  if (flags.json) return Say(nlohmann::ordered_json{{"directory", flags.directory}, {"checkpoint", flags.out}});
  return Say(flags.out + ": is a checkpoint of " + flags.directory + "\n");
}

}  // namespace

void AddCheckpoint(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<CheckpointFlags>();
  CLI::App* command = app->add_subcommand(
      "checkpoint", "Copies a database into a new directory. Files that never change again become hard links.");
  AddDirectory(command, flags.get());
  command->add_option("OUT", flags->out, "the copy's directory, which must not exist")->required();
  command->add_flag("--dry-run", flags->dry_run, "print what would be linked and written, or the error; write nothing");
  AddJson(command, flags.get());
  command->footer(
      "Example: cambium checkpoint DIR DIR-monday\n"
      "The copy appears as a whole or not at all. For an open database, call Checkpoint in its process.");
  command->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace cambium::tool

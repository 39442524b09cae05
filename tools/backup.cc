// cambium backup ...: makes, lists, verifies and deletes backups; cambium restore: gets a database back from them.
#include <ctime>
#include <memory>
#include <vector>

#include "cambium/backup_engine.h"
#include "copy_plan.h"
#include "database.h"
#include "key_text.h"
#include "output.h"
#include "progress.h"

namespace cambium::tool {
namespace {

struct Flags : DatabaseFlags {
  std::string backups;
  std::string out;
  std::string metadata;
  BackupID id = 0;
  std::uint32_t keep = 0;
  bool deep = false;
  bool dry_run = false;
};

Status Open(const Flags& flags, bool to_write, std::unique_ptr<BackupEngine>* engine) {
  BackupEngineOptions options(flags.backups);
  options.read_only = !to_write;
  return BackupEngine::Open(options, engine);
}

std::string DateOf(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  char text[64];
  if (gmtime_r(&time, &parts) == nullptr || std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts) == 0) {
    return std::to_string(seconds);
  }
  return text;
}

nlohmann::ordered_json JsonOf(const BackupInfo& info) {
  return {{"backup", info.backup_id},       {"created", info.timestamp},
          {"bytes", info.size},             {"files", info.number_files},
          {"sequence", info.sequence_number}, {"metadata", Escape(info.app_metadata)}};
}
std::string LineOf(const BackupInfo& info) {
  return "backup " + std::to_string(info.backup_id) + "  " + DateOf(info.timestamp) + "  " + Bytes(info.size) +
         " bytes in " + std::to_string(info.number_files) + " files" +
         (info.app_metadata.empty() ? "" : "  " + Escape(info.app_metadata)) + "\n";
}

int PlanCreate(const Flags& flags) {
  CopyPlan plan;
  const Status planned = BackupEngine::PlanNewBackupOffline(BackupEngineOptions(flags.backups), flags.directory, &plan);
  return SayPlan(planned, plan, flags.json);
}

int Create(const Flags& flags) {
  if (flags.dry_run) return PlanCreate(flags);
  std::unique_ptr<BackupEngine> engine;
  Status s = Open(flags, true, &engine);
  if (!s.ok()) return Fail(s, flags.json);
  Progress progress;
  CreateBackupOptions options;
  if (!Unescape(flags.metadata, &options.app_metadata)) return FailUsage("--metadata is no text with \\xNN", flags.json);
  std::uint64_t stored = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    stored = done;
    progress.Show(done, all);
  };
  BackupID id = 0;
  s = engine->CreateNewBackupOffline(options, flags.directory, &id);
  if (s.ok() && flags.keep > 0) s = engine->PurgeOldBackups(flags.keep);
  if (!s.ok()) return Fail(s, flags.json);
  const BackupInfo info = engine->GetBackupInfo().back();
  if (flags.json) {
    nlohmann::ordered_json json = JsonOf(info);
    json["bytes_stored"] = stored;
    return Say(json);
  }
  return Say(LineOf(info) + Bytes(stored) + " bytes were new\n");
}

int List(const Flags& flags) {
  std::unique_ptr<BackupEngine> engine;
  const Status s = Open(flags, false, &engine);
  if (!s.ok()) return Fail(s, flags.json);
  const std::vector<BackupID> damaged = engine->GetCorruptedBackups();
  std::string text;
  nlohmann::ordered_json json{{"backups", nlohmann::ordered_json::array()}, {"damaged", damaged}};
  for (const BackupInfo& info : engine->GetBackupInfo()) {
    text += LineOf(info);
    json["backups"].push_back(JsonOf(info));
  }
  for (const BackupID id : damaged) text += "backup " + std::to_string(id) + "  DAMAGED: its record cannot be read\n";
  const ExitCode said = flags.json ? Say(json) : Say(text);
  return said == kClean && !damaged.empty() ? kDamage : said;
}

// All, or the one that was named.
int Verify(const Flags& flags) {
  std::unique_ptr<BackupEngine> engine;
  const Status s = Open(flags, false, &engine);
  if (!s.ok()) return Fail(s, flags.json);
  std::vector<BackupID> ids = {flags.id};
  if (flags.id == 0) {
    ids = engine->GetCorruptedBackups();
    for (const BackupInfo& info : engine->GetBackupInfo()) ids.push_back(info.backup_id);
  }
  ExitCode worst = kClean;
  std::string text;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const BackupID id : ids) {
    const Status verified = engine->VerifyBackup(id, flags.deep);
    if (worst != kDamage && !verified.ok()) worst = ExitCodeOf(verified);
    text += "backup " + std::to_string(id) + ": " + (verified.ok() ? "clean" : verified.ToString()) + "\n";
    json.push_back({{"backup", id}, {"status", verified.ToString()}});
  }
  const ExitCode said = flags.json ? Say(json) : Say(text);
  return worst == kClean ? said : worst;
}

int Delete(const Flags& flags) {
  std::unique_ptr<BackupEngine> engine;
  Status s = Open(flags, !flags.dry_run, &engine);
  std::vector<BackupID> gone;
  if (s.ok() && flags.id != 0) {
    gone.push_back(flags.id);
  } else if (s.ok()) {
    const std::vector<BackupInfo> all = engine->GetBackupInfo();
    for (std::size_t i = 0; i + flags.keep < all.size(); ++i) gone.push_back(all[i].backup_id);
  }
  if (!flags.dry_run) {
    for (std::size_t i = 0; s.ok() && i < gone.size(); ++i) s = engine->DeleteBackup(gone[i]);
  }
  if (!s.ok()) return Fail(s, flags.json);
  if (flags.json) return Say(nlohmann::ordered_json{{"deleted", gone}, {"dry_run", flags.dry_run}});
  std::string text;
  for (const BackupID id : gone) {
    text += (flags.dry_run ? "would delete backup " : "deleted backup ") + std::to_string(id) + "\n";
  }
  return Say(text);
}

int Restore(const Flags& flags) {
  std::unique_ptr<BackupEngine> engine;
  Status s = Open(flags, false, &engine);
  if (!s.ok()) return Fail(s, flags.json);
  if (flags.dry_run) {
    CopyPlan plan;
    const Status planned = engine->PlanRestore(flags.id, flags.out, &plan);
    return SayPlan(planned, plan, flags.json);
  }
  Progress progress;
  RestoreOptions options;
  std::uint64_t bytes = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    bytes = done;
    progress.Show(done, all);
  };
  s = flags.id == 0 ? engine->RestoreDBFromLatestBackup(options, flags.out)
                    : engine->RestoreDBFromBackup(options, flags.id, flags.out);
  if (!s.ok()) return Fail(s, flags.json);
  if (flags.json) return Say(nlohmann::ordered_json{{"directory", flags.out}, {"bytes", bytes}});
  return Say(flags.out + ": restored, " + Bytes(bytes) + " bytes, every checksum compared\n");
}

void AddBackups(CLI::App* command, Flags* flags) {
  command->add_option("BACKUPS", flags->backups, "the directory of the backups")->required();
}

}  // namespace

void AddBackup(CLI::App* app, int* exit_code) {
  CLI::App* const all = app->add_subcommand("backup", "Makes, lists, verifies and deletes backups.");
  all->require_subcommand(1);
  all->footer("Example: cambium backup create DIR BACKUPS --keep 7");
  auto flags = std::make_shared<Flags>();

  CLI::App* command = all->add_subcommand(
      "create", "Backs up a database that nobody has open. What an earlier backup has is not stored again.");
  AddDirectory(command, flags.get());
  command->add_option("BACKUPS", flags->backups, "the directory of the backups; made if it does not exist")->required();
  command->add_option("--metadata", flags->metadata, "text to be kept with it");
  command->add_option("--keep", flags->keep, "delete older ones, but for the newest so many");
  command->add_flag("--dry-run", flags->dry_run, "say what would be new and what shared, or why not, and write nothing");
  AddJson(command, flags.get());
  command->callback([flags, exit_code] { *exit_code = Create(*flags); });

  command = all->add_subcommand("list", "Prints what backups there are. Exit code 1 if one cannot be read.");
  AddBackups(command, flags.get());
  AddJson(command, flags.get());
  command->callback([flags, exit_code] { *exit_code = List(*flags); });

  command = all->add_subcommand("verify", "Checks that every file of a backup, or of all, is there.");
  AddBackups(command, flags.get());
  command->add_option("--id", flags->id, "only this one");
  command->add_flag("--deep", flags->deep, "read every byte, and compare the checksums");
  AddJson(command, flags.get());
  command->callback([flags, exit_code] { *exit_code = Verify(*flags); });

  command = all->add_subcommand("delete", "Deletes a backup, or all but the newest, and the files that no other has.");
  AddBackups(command, flags.get());
  CLI::Option* const id = command->add_option("--id", flags->id, "this one");
  CLI::Option* const keep = command->add_option("--keep", flags->keep, "all but the newest so many");
  keep->excludes(id);
  command->add_flag("--dry-run", flags->dry_run, "say which, and delete nothing");
  AddJson(command, flags.get());
  command->callback([flags, id, keep, exit_code] {
    *exit_code = id->count() + keep->count() == 1 ? Delete(*flags) : int{FailUsage("delete takes --id or --keep", flags->json)};
  });
}

void AddRestore(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app->add_subcommand("restore", "Makes a database of a backup, and compares every checksum.");
  AddBackups(command, flags.get());
  command->add_option("OUT", flags->out, "the database's directory, which must not exist")->required();
  command->add_option("--id", flags->id, "of this backup (default: the newest)");
  command->add_flag("--dry-run", flags->dry_run, "say what would be written, or why not, and write nothing");
  AddJson(command, flags.get());
  command->footer("Example: cambium restore BACKUPS DIR");
  command->callback([flags, exit_code] { *exit_code = Restore(*flags); });
}

}  // namespace cambium::tool

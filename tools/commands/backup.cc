// cambium backup ...: creates, lists, verifies and deletes backups; cambium restore: restores a database from them.
#include <cstdio>
#include <ctime>
#include <limits>
#include <memory>
#include <vector>

#include "cambium/backup_engine.h"
#include "copy_plan.h"
#include "database.h"
#include "interrupt.h"
#include "key_text.h"
#include "output.h"
#include "progress.h"

namespace cambium::tool {
namespace {

struct BackupFlags : DatabaseFlags {
  std::string backups;
  std::string out;
  std::string metadata;
  BackupID id = 0;
  std::uint32_t keep = 0;
  bool has_id = false;
  bool deep = false;
  bool dry_run = false;
  bool no_verify = false;
};

enum class Use : unsigned char { kRead, kDelete, kCreate };

BackupEngineOptions OptionsFor(const BackupFlags& flags, Use use) {
  BackupEngineOptions options(flags.backups);
  options.read_only = use == Use::kRead;
  options.create_if_missing = use == Use::kCreate;
  return options;
}

Status Open(const BackupFlags& flags, Use use, std::unique_ptr<BackupEngine>* engine) {
  return BackupEngine::Open(OptionsFor(flags, use), engine);
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

nlohmann::ordered_json BackupJson(const BackupInfo& info) {
  return {{"backup", info.backup_id},       {"created", info.timestamp},
          {"bytes", info.size},             {"files", info.number_files},
          {"sequence", info.sequence_number}, {"metadata", Escape(info.app_metadata)},
          {"checked", info.is_checked}};
}
// Prints what was done, and the error that ended it, if any.
ExitCode SayOrFail(const Status& status, nlohmann::ordered_json json) {
  if (status.ok()) return Say(json);
  json["error"] = status.ToString();
  std::fprintf(stderr, "cambium: %s\n", status.ToString().c_str());
  static_cast<void>(Say(json));
  return ExitCodeOf(status);
}
std::string LineOf(const BackupInfo& info) {
  return "backup " + std::to_string(info.backup_id) + "  " + DateOf(info.timestamp) + "  " + Bytes(info.size) +
         " bytes in " + std::to_string(info.number_files) + " files" +
         (info.is_checked ? "" : "  not checked") +
         (info.app_metadata.empty() ? "" : "  " + Escape(info.app_metadata)) + "\n";
}

// Deletes backups one by one, until an error. Appends each deleted backup to *gone.
Status DeleteEach(BackupEngine* engine, const std::vector<BackupID>& ids, std::vector<BackupID>* gone) {
  for (const BackupID id : ids) {
    if (const Status s = engine->DeleteBackup(id); !s.ok()) return s;
    gone->push_back(id);
  }
  return Status::OK();
}

std::vector<BackupID> AllButTheNewest(const BackupEngine& engine, std::uint32_t keep) {
  const std::vector<BackupInfo> all = engine.GetBackupInfo();
  std::vector<BackupID> ids;
  for (std::size_t i = 0; i + keep < all.size(); ++i) ids.push_back(all[i].backup_id);
  return ids;
}

std::string DeletedLines(const std::vector<BackupID>& ids, const char* verb) {
  std::string text;
  for (const BackupID id : ids) text += verb + std::to_string(id) + "\n";
  return text;
}

int Create(const BackupFlags& flags) {
  Progress progress;
  CreateBackupOptions options;
  if (!Unescape(flags.metadata, &options.app_metadata)) return FailUsage("--metadata is not text with \\xNN", flags.json);
  // Report what can be foreseen before BACKUPS is created. With holes, files may need less space than the plan says.
  CopyPlan plan;
  const Status planned = BackupEngine::PlanNewBackupOffline(OptionsFor(flags, Use::kCreate), flags.directory, &plan);
  if (flags.dry_run) return SayPlan(planned, plan, flags.json);
  if (!planned.ok() && !planned.IsNoSpace()) return Fail(planned, flags.json);
  std::unique_ptr<BackupEngine> engine;
  Status s = Open(flags, Use::kCreate, &engine);
  if (!s.ok()) return Fail(s, flags.json);
  std::uint64_t stored = 0;
  std::vector<std::string> dead;
  options.verify_checksums = !flags.no_verify;
  options.on_dead_damage = [&](const std::string& what) { dead.push_back(what); };
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    stored = done;
    if (Interrupts::HasCome()) engine->StopBackup();
    progress.Show(done, all);
  };
  BackupID id = 0;
  const Interrupts interrupts;
  s = engine->CreateNewBackupOffline(options, flags.directory, &id);
  Interrupts::ThrowIfEnded(s, "no backup was made and none deleted");
  if (s.IsCorruption()) {
    return Fail(Status::Corruption(std::string(s.message()) + "; no backup was made and none deleted" +
                                   (flags.no_verify ? "" : ", --no-verify stores damaged files as they are")),
                flags.json);
  }
  if (!s.ok()) return Fail(s, flags.json);
  const BackupInfo info = engine->GetBackupInfo().back();
  std::vector<BackupID> gone;
  if (flags.keep > 0) s = DeleteEach(engine.get(), AllButTheNewest(*engine, flags.keep), &gone);
  // The backup was created, and old ones may have been deleted, even if deleting another one failed.
  if (flags.json) {
    nlohmann::ordered_json json = BackupJson(info);
    json["bytes_stored"] = stored;
    json["deleted"] = gone;
    json["dead_damage"] = dead;
    return SayOrFail(s, std::move(json));
  }
  std::string text = LineOf(info) + Bytes(stored) + " bytes were new\n";
  for (const std::string& what : dead) text += "dead damage, without effect: " + what + "\n";
  const ExitCode said = Say(text + DeletedLines(gone, "deleted backup "));
  return s.ok() ? said : Fail(s, false);
}

int List(const BackupFlags& flags) {
  std::unique_ptr<BackupEngine> engine;
  const Status s = Open(flags, Use::kRead, &engine);
  if (!s.ok()) return Fail(s, flags.json);
  const std::vector<BackupID> damaged = engine->GetCorruptedBackups();
  std::string text;
  nlohmann::ordered_json json{{"backups", nlohmann::ordered_json::array()}, {"damaged", damaged}};
  for (const BackupInfo& info : engine->GetBackupInfo()) {
    text += LineOf(info);
    json["backups"].push_back(BackupJson(info));
  }
  for (const BackupID id : damaged) text += "backup " + std::to_string(id) + "  DAMAGED: its record cannot be read\n";
  const ExitCode said = flags.json ? Say(json) : Say(text);
  return said == kClean && !damaged.empty() ? kDamage : said;
}

// Verifies all backups, or the one given by --id.
int Verify(const BackupFlags& flags) {
  std::unique_ptr<BackupEngine> engine;
  const Status s = Open(flags, Use::kRead, &engine);
  if (!s.ok()) return Fail(s, flags.json);
  std::vector<BackupID> ids = {flags.id};
  if (!flags.has_id) {
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

int Delete(const BackupFlags& flags) {
  std::vector<BackupID> ids;
  const BackupID id = flags.has_id ? flags.id : 0;
  if (flags.dry_run) {
    const Status planned = BackupEngine::PlanDeletion(OptionsFor(flags, Use::kDelete), id, flags.keep, &ids);
    if (!planned.ok()) return Fail(planned, flags.json);
    if (flags.json) return Say(nlohmann::ordered_json{{"deleted", ids}, {"dry_run", true}});
    return Say(DeletedLines(ids, "would delete backup "));
  }
  std::unique_ptr<BackupEngine> engine;
  Status s = Open(flags, Use::kDelete, &engine);
  if (!s.ok()) return Fail(s, flags.json);
  ids = flags.has_id ? std::vector<BackupID>{id} : AllButTheNewest(*engine, flags.keep);
  std::vector<BackupID> gone;
  s = DeleteEach(engine.get(), ids, &gone);
  if (flags.json) return SayOrFail(s, {{"deleted", gone}, {"dry_run", false}});
  const ExitCode said = Say(DeletedLines(gone, "deleted backup "));
  return s.ok() ? said : Fail(s, false);
}

// Whether the backup to be restored was checked when it was made.
bool IsChecked(const BackupEngine& engine, const BackupFlags& flags) {
  for (const BackupInfo& info : engine.GetBackupInfo()) {
    if (flags.has_id && info.backup_id == flags.id) return info.is_checked;
  }
  return !flags.has_id && engine.GetBackupInfo().back().is_checked;
}

int Restore(const BackupFlags& flags) {
  std::unique_ptr<BackupEngine> engine;
  Status s = Open(flags, Use::kRead, &engine);
  if (!s.ok()) return Fail(s, flags.json);
  if (flags.dry_run) {
    CopyPlan plan;
    const Status planned = engine->PlanRestore(flags.has_id ? flags.id : 0, flags.out, &plan);
    return SayPlan(planned, plan, flags.json);
  }
  Progress progress;
  RestoreOptions options;
  std::uint64_t bytes = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    bytes = done;
    if (Interrupts::HasCome()) engine->StopBackup();
    progress.Show(done, all);
  };
  const Interrupts interrupts;
  s = flags.has_id ? engine->RestoreDBFromBackup(options, flags.id, flags.out)
                   : engine->RestoreDBFromLatestBackup(options, flags.out);
  Interrupts::ThrowIfEnded(s, flags.out + " was not created");
  if (!s.ok()) return Fail(s, flags.json);
  const bool is_checked = IsChecked(*engine, flags);
  if (flags.json) {
    return Say(nlohmann::ordered_json{{"directory", flags.out}, {"bytes", bytes}, {"checked", is_checked}});
  }
  return Say(
      flags.out + ": restored, " + Bytes(bytes) + " bytes, every checksum compared\n" +
      (is_checked ? "" : "the values were not checked when the backup was made: cambium verify --deep checks them\n"));
}

// Ids are numbers from 1. 0 is rejected, and does not mean "all".
CLI::Option* AddId(CLI::App* command, BackupFlags* flags, const std::string& help) {
  return command
      ->add_option_function<BackupID>(
          "--id",
          [flags](const BackupID& id) {
            flags->id = id;
            flags->has_id = true;
          },
          help)
      ->check(CLI::Range(BackupID{1}, std::numeric_limits<BackupID>::max()));
}

void AddBackups(CLI::App* command, BackupFlags* flags) {
  command->add_option("BACKUPS", flags->backups, "the directory of the backups")->required();
}

}  // namespace

void AddBackup(CLI::App* app, int* exit_code) {
  CLI::App* const all = app->add_subcommand("backup", "Creates, lists, verifies and deletes backups.");
  all->require_subcommand(1);
  all->footer("Example: cambium backup create DIR BACKUPS --keep 7");
  auto flags = std::make_shared<BackupFlags>();

  CLI::App* command = all->add_subcommand(
      "create",
      "Backs up a database that no process has open, and checks every value. Files that an earlier backup has are not "
      "stored again.");
  AddDirectory(command, flags.get());
  command->add_option("BACKUPS", flags->backups, "the directory of the backups; created if it does not exist")->required();
  command->add_option("--metadata", flags->metadata, "text to be stored with the backup");
  command->add_option("--keep", flags->keep, "delete old backups, so that this many are left");
  command->add_flag("--no-verify", flags->no_verify,
                    "do not compare the values with their checksums: a damaged file is stored as it is");
  command->add_flag("--dry-run", flags->dry_run, "print what would be new and what shared, or the error; write nothing");
  AddJson(command, flags.get());
  command->callback([flags, exit_code] { *exit_code = Create(*flags); });

  command = all->add_subcommand("list", "Lists the backups. Exit code 1 if one cannot be read.");
  AddBackups(command, flags.get());
  AddJson(command, flags.get());
  command->callback([flags, exit_code] { *exit_code = List(*flags); });

  command = all->add_subcommand("verify", "Checks that all files of one backup, or of all backups, exist.");
  AddBackups(command, flags.get());
  AddId(command, flags.get(), "only this backup");
  command->add_flag("--deep", flags->deep, "read every byte and compare the checksums");
  AddJson(command, flags.get());
  command->callback([flags, exit_code] { *exit_code = Verify(*flags); });

  command = all->add_subcommand("delete", "Deletes a backup, or all but the newest, and the files that no other has.");
  AddBackups(command, flags.get());
  CLI::Option* const id = AddId(command, flags.get(), "delete this backup");
  CLI::Option* const keep = command->add_option("--keep", flags->keep, "delete all but the newest this many backups");
  keep->excludes(id);
  command->add_flag("--dry-run", flags->dry_run, "print which, and delete nothing");
  AddJson(command, flags.get());
  command->callback([flags, id, keep, exit_code] {
    *exit_code = id->count() + keep->count() == 1 ? Delete(*flags) : int{FailUsage("delete takes --id or --keep", flags->json)};
  });
}

void AddRestore(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<BackupFlags>();
  CLI::App* command = app->add_subcommand("restore", "Restores a database from a backup, and compares every checksum.");
  AddBackups(command, flags.get());
  command->add_option("OUT", flags->out, "the database's directory, which must not exist")->required();
  AddId(command, flags.get(), "the backup (default: the newest, which must be readable)");
  command->add_flag("--dry-run", flags->dry_run, "print what would be written, or the error; write nothing");
  AddJson(command, flags.get());
  command->footer("Example: cambium restore BACKUPS DIR");
  command->callback([flags, exit_code] { *exit_code = Restore(*flags); });
}

}  // namespace cambium::tool

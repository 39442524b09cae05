// cambium delete DIR KEY: deletes a key, or all keys in a range, durably.
#include <memory>

#include "database.h"
#include "key_text.h"
#include "output.h"
#include "value_file.h"

namespace cambium::tool {
namespace {

struct DeleteFlags : DatabaseFlags {
  std::string key;
  std::string end;
  bool dry_run = false;
};

// Counts the keys to be deleted.
Status Count(const Database& database, ColumnFamilyHandle* family, Slice begin, const std::string* end,
             std::uint64_t* count) {
  *count = 0;
  if (end == nullptr) {
    bool has = false;
    const Status s = database.Has(family, begin, &has);
    *count = has ? 1 : 0;
    return s;
  }
  const Slice limit = *end;
  ReadOptions options;
  options.iterate_upper_bound = &limit;
  options.allow_unprepared_value = true;
  const std::unique_ptr<Iterator> it(database.db()->NewIterator(options, family));
  for (it->Seek(begin); it->Valid(); it->Next()) ++*count;
  return it->status();
}

// Returns the error that a write of these keys would return.
Status CheckArguments(DB* db, ColumnFamilyHandle* family, Slice key, const std::string* end) {
  const ColumnFamilyOptions options = db->GetOptions(family);
  Status s = CheckSizes(options, key, {});
  if (end == nullptr || !s.ok()) return s;
  if (family->GetComparator()->Compare(key, *end) > 0) return Status::InvalidArgument("the range ends before it begins");
  return CheckSizes(options, *end, {});
}

Status Delete(const DeleteFlags& flags, const std::string& key, const std::string* end, std::uint64_t* count) {
  Database database;
  ColumnFamilyHandle* family = nullptr;
  Status s = flags.dry_run ? database.OpenAsIfToWrite(flags, key.size()) : database.OpenToWrite(flags);
  if (s.ok()) s = database.Find(flags.family, &family);
  if (s.ok()) s = CheckArguments(database.db(), family, key, end);
  if (s.ok()) s = Count(database, family, key, end, count);
  if (!s.ok()) return s;
  WriteOptions durable;
  durable.sync = true;
  if (!flags.dry_run) {
    s = end == nullptr ? database.db()->Delete(durable, family, key)
                       : database.db()->DeleteRange(durable, family, key, *end);
  }
  const Status closed = database.Close();
  return s.ok() ? closed : s;
}

int Run(const DeleteFlags& flags, bool has_end) {
  std::string key;
  std::string end;
  if (!Parse(flags.key, flags.hex, &key)) return FailUsage(WhyMalformed(flags.key, flags.hex), flags.json);
  if (!Parse(flags.end, flags.hex, &end)) return FailUsage(WhyMalformed(flags.end, flags.hex), flags.json);
  std::uint64_t count = 0;
  const Status s = Delete(flags, key, has_end ? &end : nullptr, &count);
  if (!s.ok()) return Fail(s, flags.json);
  if (flags.json) return Say(nlohmann::ordered_json{{"deleted", count}, {"dry_run", flags.dry_run}});
  return Say(std::string(flags.dry_run ? "would delete " : "deleted ") + std::to_string(count) +
             (count == 1 ? " key\n" : " keys\n"));
}

}  // namespace

void AddDelete(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<DeleteFlags>();
  CLI::App* command = app->add_subcommand("delete", "Deletes a key or a range of keys. Durable when the command ends.");
  AddDirectory(command, flags.get());
  command->add_option("KEY", flags->key, "the key, as text with \\xNN")->required();
  CLI::Option* const end =
      command->add_option("--end", flags->end, "delete all keys from KEY on that are less than this one");
  AddFamily(command, flags.get());
  AddHex(command, flags.get());
  command->add_flag("--dry-run", flags->dry_run, "print how many keys would be deleted; write nothing");
  AddDefaultOptions(command, flags.get());
  AddJson(command, flags.get());
  command->footer(
      "Example: cambium delete DIR user100 --end user200 --dry-run\n"
      "Deleting an absent key succeeds: \"deleted 0 keys\", exit code 0. So it can be repeated.");
  command->callback([flags, end, exit_code] { *exit_code = Run(*flags, end->count() > 0); });
}

}  // namespace cambium::tool

// cambium put DIR KEY VALUE: writes a value, durably.
#include <memory>

#include "database.h"
#include "key_text.h"
#include "output.h"
#include "value_file.h"

namespace cambium::tool {
namespace {

struct PutFlags : DatabaseFlags {
  std::string key;
  std::string value;
  std::string value_file;
  bool dry_run = false;
};

Status Write(const PutFlags& flags, const std::string& key, const std::string& value, bool* replaces) {
  Database database;
  ColumnFamilyHandle* family = nullptr;
  Status s = flags.dry_run ? database.OpenAsIfToWrite(flags, key.size() + value.size()) : database.OpenToWrite(flags);
  if (s.ok()) s = database.Find(flags.family, &family);
  if (s.ok()) s = database.Has(family, key, replaces);
  if (!s.ok()) return s;
  WriteOptions durable;
  durable.sync = true;
  s = flags.dry_run ? CheckSizes(database.db()->GetOptions(family), key, value)
                    : database.db()->Put(durable, family, key, value);
  const Status closed = database.Close();
  return s.ok() ? closed : s;
}

int Put(const PutFlags& flags, bool has_value) {
  if (has_value == !flags.value_file.empty()) {
    return FailUsage("give either VALUE or --value-file", flags.json);
  }
  std::string key;
  std::string value;
  if (!Parse(flags.key, flags.hex, &key)) return FailUsage(WhyMalformed(flags.key, flags.hex), flags.json);
  if (has_value && !Parse(flags.value, flags.hex, &value)) return FailUsage(WhyMalformed(flags.value, flags.hex), flags.json);
  Status s = has_value ? Status::OK() : ReadValueFile(flags.value_file, &value);
  bool replaces = false;
  if (s.ok()) s = Write(flags, key, value, &replaces);
  if (!s.ok()) return Fail(s, flags.json);
  if (flags.json) {
    return Say(nlohmann::ordered_json{{"key", Format(key, flags.hex)},
                                      {"bytes", value.size()},
                                      {"replaces", replaces},
                                      {"dry_run", flags.dry_run}});
  }
  const std::string what = flags.dry_run ? (replaces ? "would replace" : "would add") : replaces ? "replaced" : "added";
  return Say(what + " " + Format(key, flags.hex) + ", " + Bytes(value.size()) + " bytes\n");
}

}  // namespace

void AddPut(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<PutFlags>();
  CLI::App* command = app->add_subcommand("put", "Writes a value. Durable when the command ends.");
  AddDirectory(command, flags.get());
  command->add_option("KEY", flags->key, "the key, as text with \\xNN")->required();
  CLI::Option* const value = command->add_option("VALUE", flags->value, "the value, as text with \\xNN");
  command->add_option("--value-file", flags->value_file, "read the value from this file (- is stdin)");
  AddFamily(command, flags.get());
  AddHex(command, flags.get());
  command->add_flag("--dry-run", flags->dry_run, "print what would be done; write nothing");
  AddDefaultOptions(command, flags.get());
  AddJson(command, flags.get());
  command->footer("Example: cambium put DIR oak 'a ring a year'");
  command->callback([flags, value, exit_code] { *exit_code = Put(*flags, value->count() > 0); });
}

}  // namespace cambium::tool

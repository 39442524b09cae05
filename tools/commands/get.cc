// cambium get DIR KEY: prints one value.
#include <cstdio>
#include <memory>

#include "database.h"
#include "key_text.h"
#include "output.h"
#include "value_file.h"

namespace cambium::tool {
namespace {

struct GetFlags : DatabaseFlags {
  std::string key;
  std::string output;
};

int Get(const GetFlags& flags) {
  std::string key;
  if (!Parse(flags.key, flags.hex, &key)) return FailUsage(WhyMalformed(flags.key, flags.hex), flags.json);
  Database database;
  ColumnFamilyHandle* family = nullptr;
  PinnableSlice value;
  Status s = database.OpenToRead(flags.directory);
  if (s.ok()) s = database.Find(flags.family, &family);
  if (s.ok()) s = database.db()->Get({}, family, key, &value);
  if (s.IsNotFound()) {
    static_cast<void>(FailUsage("no such key: " + Format(key, flags.hex), flags.json));
    return kDamage;
  }
  if (!s.ok()) return Fail(s, flags.json);
  if (!flags.output.empty()) {
    s = WriteValueFile(flags.output, value);
    return s.ok() ? kClean : Fail(s, flags.json);
  }
  if (!flags.json) return SayBytes(value, flags.hex);
  return SayBytes({{"key", Format(key, flags.hex)}}, "value", value, flags.hex);
}

}  // namespace

void AddGet(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<GetFlags>();
  CLI::App* command = app->add_subcommand("get", "Prints the value of a key. Writes nothing to the database.");
  AddDirectory(command, flags.get());
  command->add_option("KEY", flags->key, "the key, as text with \\xNN")->required();
  AddFamily(command, flags.get());
  AddHex(command, flags.get());
  command->add_option("--output", flags->output, "write the value's bytes to this file (- is stdout), and print nothing");
  AddJson(command, flags.get());
  command->footer(
      "Example: cambium get DIR 'user\\x00\\x01'\n"
      "Exit code 1 if the key does not exist.");
  command->callback([flags, exit_code] { *exit_code = Get(*flags); });
}

}  // namespace cambium::tool

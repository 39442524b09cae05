// cambium options DIR: prints the options of the newest OPTIONS file.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "options/options_check.h"
#include "cambium/convenience.h"
#include "database.h"
#include "output.h"

namespace cambium::tool {
namespace {

struct OptionsFlags : DatabaseFlags {
  bool changed = false;
};

using Texts = std::vector<std::pair<std::string, std::string>>;  // name and text, in order

Texts Split(const std::string& text) {
  Texts texts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) texts.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    at = end + 1;
  }
  return texts;
}

// One section: each option, with its default if that differs.
void Append(const std::string& title, const std::string& set, const std::string& defaults, const OptionsFlags& flags,
            std::string* text, nlohmann::ordered_json* json) {
  const Texts default_texts = Split(defaults);
  const std::map<std::string, std::string> by_name(default_texts.begin(), default_texts.end());
  *text += "[" + title + "]\n";
  for (const auto& [name, value] : Split(set)) {
    const auto usual = by_name.find(name);
    const bool differs = usual != by_name.end() && usual->second != value;
    if (flags.changed && !differs) continue;
    *text += "  " + name + "=" + value + (differs ? "    (default: " + usual->second + ")" : "") + "\n";
    (*json)[title][name] = {{"value", value}, {"default", usual == by_name.end() ? value : usual->second}};
  }
}

int Show(const OptionsFlags& flags) {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  const Status s = LoadLatestOptions(config, flags.directory, &options, &families);
  if (!s.ok()) return Fail(s, flags.json);
  std::string text;
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  std::string set;
  std::string defaults;
  Status made = GetStringFromDBOptions(&set, options, "\n");
  if (made.ok()) made = GetStringFromDBOptions(&defaults, FillInDefaults({}), "\n");  // as they are recorded
  if (!made.ok()) return Fail(made, flags.json);
  Append("DBOptions", set, defaults, flags, &text, &json);
  for (const ColumnFamilyDescriptor& family : families) {
    made = GetStringFromColumnFamilyOptions(&set, family.options, "\n");
    if (made.ok()) made = GetStringFromColumnFamilyOptions(&defaults, {}, "\n");
    if (!made.ok()) return Fail(made, flags.json);
    Append("CFOptions \"" + family.name + "\"", set, defaults, flags, &text, &json);
  }
  return flags.json ? Say(json) : Say(text);
}

}  // namespace

void AddOptions(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<OptionsFlags>();
  CLI::App* command = app->add_subcommand("options", "Prints the options a database was last open with.");
  AddDirectory(command, flags.get());
  command->add_flag("--changed", flags->changed, "only options that differ from their defaults");
  AddJson(command, flags.get());
  command->footer("Example: cambium options DIR --changed");
  command->callback([flags, exit_code] { *exit_code = Show(*flags); });
}

}  // namespace cambium::tool

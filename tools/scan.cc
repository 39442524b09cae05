// cambium scan DIR: keys and values in order.
#include <cstdint>
#include <limits>
#include <memory>

#include "database.h"
#include "key_text.h"
#include "output.h"
#include "value_file.h"

namespace cambium::tool {
namespace {

struct Flags : DatabaseFlags {
  std::string from;
  std::string to;
  std::string prefix;
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  bool reverse = false;
  bool keys_only = false;
  bool count = false;
};
struct Given {
  bool from = false;
  bool to = false;
};

// One entry, a line.
std::string Line(const Flags& flags, const Iterator& it, Slice value) {
  const std::string key = Format(it.key(), flags.hex);
  if (flags.json) {
    nlohmann::ordered_json json{{"key", key}};
    if (!flags.keys_only) json["value"] = Format(value, flags.hex);
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  return flags.keys_only ? key + "\n" : key + "\t" + Format(value, flags.hex) + "\n";
}

// Prints as it goes. Prefixes are cut by hand: they are no range in an order that is not of bytes.
ExitCode Walk(const Flags& flags, Iterator* it, const std::string& prefix, std::uint64_t* count, Status* status) {
  std::string text;
  ExitCode said = kClean;
  constexpr std::size_t kPiece = 1u << 16;
  for (; it->Valid() && *count < flags.limit && said == kClean; flags.reverse ? it->Prev() : it->Next()) {
    if (!it->key().starts_with(prefix)) continue;
    if (!flags.count) {
      if (!flags.keys_only && !it->PrepareValue()) break;
      text += Line(flags, *it, flags.keys_only ? Slice() : it->value());
    }
    ++*count;
    if (text.size() >= kPiece) {
      said = Say(text);
      text.clear();
    }
  }
  *status = it->status();
  return said == kClean ? Say(text) : said;
}

int Scan(const Flags& flags, const Given& given) {
  std::string from;
  std::string to;
  std::string prefix;
  for (const auto& [text, bytes] : {std::pair{&flags.from, &from}, {&flags.to, &to}, {&flags.prefix, &prefix}}) {
    if (!Parse(*text, flags.hex, bytes)) return FailUsage(NoText(*text, flags.hex), flags.json);
  }
  Database database;
  ColumnFamilyHandle* family = nullptr;
  Status s = database.OpenToRead(flags.directory);
  if (s.ok()) s = database.Find(flags.family, &family);
  if (!s.ok()) return Fail(s, flags.json);
  const Slice lower = from;
  const Slice upper = to;
  ReadOptions options;
  options.allow_unprepared_value = true;
  if (given.from) options.iterate_lower_bound = &lower;
  if (given.to) options.iterate_upper_bound = &upper;
  std::uint64_t count = 0;
  ExitCode said = kClean;
  {
    const std::unique_ptr<Iterator> it(database.db()->NewIterator(options, family));
    flags.reverse ? it->SeekToLast() : it->SeekToFirst();
    said = Walk(flags, it.get(), prefix, &count, &s);
  }
  if (!s.ok()) return Fail(s, flags.json);
  if (said != kClean || !flags.count) return said;
  return flags.json ? Say(nlohmann::ordered_json{{"count", count}}) : Say(std::to_string(count) + "\n");
}

}  // namespace

void AddScan(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app->add_subcommand("scan", "Prints keys and values in order. Writes nothing.");
  AddDirectory(command, flags.get());
  CLI::Option* const from = command->add_option("--from", flags->from, "the first key, as text with \\xNN");
  CLI::Option* const to = command->add_option("--to", flags->to, "up to this key and without it");
  command->add_option("--prefix", flags->prefix, "only keys that begin with this");
  command->add_option("--limit", flags->limit, "at most so many");
  command->add_flag("--reverse", flags->reverse, "from the last key to the first");
  command->add_flag("--keys-only", flags->keys_only, "no values: none is read");
  command->add_flag("--count", flags->count, "only how many there are");
  AddFamily(command, flags.get());
  AddHex(command, flags.get());
  command->add_flag("--json", flags->json, "print one JSON object a line");
  command->footer("Example: cambium scan DIR --prefix user --limit 10\nA line is a key, a tab and a value.");
  command->callback([flags, from, to, exit_code] {
    *exit_code = Scan(*flags, {from->count() > 0, to->count() > 0});
  });
}

}  // namespace cambium::tool

// cambium scan DIR: prints keys and values in order.
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "cambium/comparator.h"
#include "database.h"
#include "key_text.h"
#include "output.h"
#include "stream.h"
#include "value_file.h"

namespace cambium::tool {
namespace {

struct ScanFlags : DatabaseFlags {
  std::string from;
  std::string to;
  std::string prefix;
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  bool reverse = false;
  bool keys_only = false;
  bool count = false;
};
struct ScanGiven {
  bool from = false;
  bool to = false;
};

// Prints one entry on a line.
void Print(const ScanFlags& flags, const Iterator& it, Slice value, Stream* out) {
  const auto format = flags.json ? FormatInJson : Format;
  out->Write((flags.json ? R"({"key":")" : "") + format(it.key(), flags.hex));
  if (!flags.keys_only) {
    out->Write(flags.json ? R"(","value":")" : "\t");
    static_cast<void>(PutInPieces(value, [&](Slice piece) {
      out->Write(format(piece, flags.hex));
      return !out->is_closed();
    }));
  }
  out->Write(flags.json ? "\"}\n" : "\n");
}

// The first string after all that begin with `prefix`; nothing if there is none.
std::optional<std::string> AfterPrefix(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (prefix.empty()) return std::nullopt;
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

// In both key orders that the tool knows, keys with one prefix are adjacent. Moves to the edge of that range where the
// scan starts; `ascends`: the scan goes to larger bytes.
void GoToPrefix(const ScanFlags& flags, const std::string& prefix, bool ascends, Iterator* it) {
  const std::optional<std::string> edge = ascends ? prefix : AfterPrefix(prefix);
  if (prefix.empty() || !edge.has_value()) {
    flags.reverse ? it->SeekToLast() : it->SeekToFirst();
  } else {
    flags.reverse ? it->SeekForPrev(*edge) : it->Seek(*edge);
  }
}

// Prints entries until the scan ends.
Status Walk(const ScanFlags& flags, bool is_in_byte_order, Iterator* it, const std::string& prefix,
            std::uint64_t* count, Stream* out) {
  const bool ascends = is_in_byte_order != flags.reverse;
  for (GoToPrefix(flags, prefix, ascends, it); it->Valid() && *count < flags.limit && !out->is_closed();
       flags.reverse ? it->Prev() : it->Next()) {
    if (!it->key().starts_with(prefix)) {
      const bool is_past = ascends == (BytewiseComparator()->Compare(it->key(), prefix) > 0);
      if (is_past) break;
      continue;  // the iterator is still before the range: a bound or the edge has put it there
    }
    if (!flags.count) {
      if (!flags.keys_only && !it->PrepareValue()) break;
      Print(flags, *it, flags.keys_only ? Slice() : it->value(), out);
    }
    ++*count;
  }
  return it->status();
}

int Scan(const ScanFlags& flags, const ScanGiven& given) {
  std::string from;
  std::string to;
  std::string prefix;
  for (const auto& [text, bytes] : {std::pair{&flags.from, &from}, {&flags.to, &to}, {&flags.prefix, &prefix}}) {
    if (!Parse(*text, flags.hex, bytes)) return FailUsage(WhyMalformed(*text, flags.hex), flags.json);
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
  const bool is_in_byte_order =
      database.db()->GetOptions(family).comparator->Name() == std::string(BytewiseComparator()->Name());
  std::uint64_t count = 0;
  Stream out;
  {
    const std::unique_ptr<Iterator> it(database.db()->NewIterator(options, family));
    s = Walk(flags, is_in_byte_order, it.get(), prefix, &count, &out);
  }
  const ExitCode said = out.End(kClean);
  if (!s.ok()) return Fail(s, flags.json);
  if (said != kClean || !flags.count) return said;
  return flags.json ? Say(nlohmann::ordered_json{{"count", count}}) : Say(std::to_string(count) + "\n");
}

}  // namespace

void AddScan(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<ScanFlags>();
  CLI::App* command = app->add_subcommand("scan", "Prints keys and values in order. Writes nothing.");
  AddDirectory(command, flags.get());
  CLI::Option* const from = command->add_option("--from", flags->from, "the first key, as text with \\xNN");
  CLI::Option* const to = command->add_option("--to", flags->to, "up to this key, exclusive");
  command->add_option("--prefix", flags->prefix, "only keys with this prefix");
  command->add_option("--limit", flags->limit, "at most this many entries");
  command->add_flag("--reverse", flags->reverse, "from the last key to the first");
  command->add_flag("--keys-only", flags->keys_only, "print no values, and read none");
  command->add_flag("--count", flags->count, "print only the number of entries");
  AddFamily(command, flags.get());
  AddHex(command, flags.get());
  command->add_flag("--json", flags->json, "print one JSON object per line");
  command->footer("Example: cambium scan DIR --prefix user --limit 10\nEach line is a key, a tab and a value.");
  command->callback([flags, from, to, exit_code] {
    *exit_code = Scan(*flags, {from->count() > 0, to->count() > 0});
  });
}

}  // namespace cambium::tool

// Options as text: an OPTIONS file, and the strings of convenience.h.
#include "cambium/convenience.h"
#include "fuzz/target.h"
#include "options/option_table.h"
#include "options/options_file.h"
#include "util/result.h"
#include "util/sealed_text.h"

namespace cambium::fuzz {
namespace {

constexpr const char* kOptionsPath = "/db/OPTIONS-000007";

template <typename Struct>
void PromiseSameText(Status (*from)(const Struct&, const std::string&, Struct*),
                     Status (*to)(std::string*, const Struct&, const std::string&), const std::string& text) {
  Struct options;
  const Status s = from(Struct(), text, &options);
  Promise(s.ok() || s.IsInvalidArgument(), "options as text: not InvalidArgument: " + s.ToString());
  if (!s.ok()) return;
  std::string written;
  Promise(to(&written, options, ";").ok(), "options that were read cannot be written");
  Struct again;
  const Status s2 = from(Struct(), written, &again);
  Promise(s2.ok(), "options that were written cannot be read: " + s2.ToString() + "\n" + written);
  std::string twice;
  Promise(to(&twice, again, ";").ok() && twice == written, "options that were written are read as others:\n" + written);
}

void PromiseSameFile(const OptionsFileText& text) {
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  ConfigOptions config;
  config.ignore_unknown_options = true;
  const Status s = OptionsFromFileText(text, config, kOptionsPath, &options, &families);
  if (!s.ok()) return PromiseDamage(s, kOptionsPath, "options of a file");
  const std::string written = EncodeOptionsFile(options, families, text.kept);
  const Result<OptionsFileText> again = DecodeOptionsFile(written, kOptionsPath);
  Promise(again.ok(), "an OPTIONS file that was written cannot be read: " + again.status().ToString());
  DBOptions options_again;
  std::vector<ColumnFamilyDescriptor> families_again;
  const Status s2 = OptionsFromFileText(*again, {}, kOptionsPath, &options_again, &families_again);
  Promise(s2.ok(), "options that were written to a file cannot be read: " + s2.ToString());
  Promise(EncodeOptionsFile(options_again, families_again, again->kept) == written,
          "an OPTIONS file is written as another text the second time");
}

// A copy of a whole file has the same text, without sections and lines that are not known.
void PromiseSameCopy(const OptionsFileText& text) {
  const Result<OptionsFileText> copy = DecodeOptionsFile(EncodeOptionsText(text), kOptionsPath);
  Promise(copy.ok(), "a copy of an OPTIONS file cannot be read: " + copy.status().ToString());
  Promise(copy->db == text.db && copy->families == text.families && copy->kept == text.kept,
          "a copy of an OPTIONS file says something else");
}

void PromiseSameAddition(const OptionsFileText& text) {
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  ConfigOptions config;
  config.ignore_unknown_options = true;
  if (!OptionsFromFileText(text, config, kOptionsPath, &options, &families).ok()) return;
  const std::string written = EncodeOptionsAddition(text.adds_to, families, text.dropped);
  const Result<OptionsFileText> again = DecodeOptionsFile(written, kOptionsPath);
  Promise(again.ok(), "an addition that was written cannot be read: " + again.status().ToString());
  Promise(again->adds_to == text.adds_to && again->dropped == text.dropped &&
              again->families.size() == text.families.size(),
          "an addition is read as another one");
}

void FuzzOptions(Slice input) {
  const std::string text = input.ToString();
  PromiseSameText<DBOptions>(GetDBOptionsFromString, GetStringFromDBOptions, text);
  PromiseSameText<ColumnFamilyOptions>(GetColumnFamilyOptionsFromString, GetStringFromColumnFamilyOptions, text);
  Options both;
  const Status s = GetOptionsFromString({}, text, &both);
  Promise(s.ok() || s.IsInvalidArgument(), "options as text: not InvalidArgument: " + s.ToString());

  std::string bytes;
  Promise(UnescapeText(EscapeText(input), &bytes) && Slice(bytes) == input,
          "text is not the same after it was escaped");
  (void)UnescapeText(input, &bytes);

  // Decodes the text unchanged, and with a correct checksum line, which mutations seldom produce.
  for (const std::string& file : {text, SealText(text + "\n")}) {
    const Result<OptionsFileText> read = DecodeOptionsFile(file, kOptionsPath);
    if (!read.ok()) {
      PromiseDamage(read.status(), kOptionsPath, "reading an OPTIONS file");
    } else if (read->adds_to != 0) {
      PromiseSameAddition(*read);
    } else {
      PromiseSameFile(*read);
      PromiseSameCopy(*read);
    }
  }
}

void AddOptionsSeeds(const GoldenFiles& files, std::vector<std::string>* seeds) {
  for (const auto& [name, bytes] : files) {
    if (!name.starts_with("OPTIONS-")) continue;
    seeds->push_back(bytes);
    const Result<OptionsFileText> text = DecodeOptionsFile(bytes, name);
    if (!text.ok()) continue;
    seeds->push_back(EncodeOptionsAddition(5, {{"a family", {}}, {"another", {}}}, {"a family", "gone"}));
    std::string line;
    for (const auto& [option, value] : text->db) line += option + "=" + value + ";";
    seeds->push_back(line);
    for (const auto& [family, options] : text->families) {
      line.clear();
      for (const auto& [option, value] : options) line += option + " = {" + value + "};";
      seeds->push_back(line);
    }
  }
}

}  // namespace

const Target kOptionsTarget = {"options", false, FuzzOptions, AddOptionsSeeds};

}  // namespace cambium::fuzz

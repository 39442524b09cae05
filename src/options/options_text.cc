#include "options/options_text.h"

#include <type_traits>

#include "options/options_check.h"
#include "cambium/convenience.h"

namespace cambium {
namespace {

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }  // also \n, \v and \f

// Takes the value at the start of *text, up to a ';' outside braces or the end. *text then begins at that ';'.
Status TakeValue(const std::string& name, Slice* text, Slice* value) {
  std::size_t depth = 0;
  std::size_t end = 0;
  for (; end < text->size() && (depth > 0 || (*text)[end] != ';'); ++end) {
    if ((*text)[end] == '{') ++depth;
    if ((*text)[end] == '}' && depth-- == 0) return Status::InvalidArgument(name + ": '}' without '{'");
  }
  if (depth > 0) return Status::InvalidArgument(name + ": '{' without '}'");
  *value = Trimmed(text->substr(0, end));
  if (value->starts_with("{")) {
    if (!value->ends_with("}")) return Status::InvalidArgument(name + ": text after '}'");
    *value = Trimmed(value->substr(1, value->size() - 2));
  }
  text->remove_prefix(end);
  return Status::OK();
}

// Returns the error for a name that Struct does not have. The message says if the other struct has it.
template <typename Struct>
Status UnknownOption(const std::string& name, bool dynamic_only) {
  constexpr bool kOfDatabase = std::is_same_v<Struct, DBOptions>;
  using Other = std::conditional_t<kOfDatabase, ColumnFamilyOptions, DBOptions>;
  const OptionField<Other>* const field = FindOptionField<Other>(name);
  if (field == nullptr) return Status::InvalidArgument("there is no option " + Quoted(name));
  std::string what = name + (kOfDatabase ? " is an option of a column family, not of the database"
                                         : " is an option of the database, not of a column family");
  if (dynamic_only && field->while_open != WhileOpen::kDynamic) {
    what += "; it can't be changed while the database is open";
  } else if (dynamic_only) {
    what += kOfDatabase ? "; use SetOptions" : "; use SetDBOptions";
  }
  return Status::InvalidArgument(what);
}

template <typename Struct>
std::string Join(const Struct& options, const std::string& delimiter) {
  std::string text;
  for (const OptionField<Struct>& field : OptionFields<Struct>()) {
    if (std::holds_alternative<NoText>(field.member)) continue;
    if (!text.empty()) text += delimiter;
    text.append(field.name).append("=").append(FormatOption(field, options));
  }
  return text;
}

}  // namespace

Slice Trimmed(Slice text) {
  while (!text.empty() && IsSpace(text[0])) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text[text.size() - 1])) text.remove_suffix(1);
  return text;
}

Result<OptionTexts> SplitOptionText(Slice text) {
  OptionTexts texts;
  for (text = Trimmed(text); !text.empty(); text = Trimmed(text)) {
    if (text[0] == ';') {
      text.remove_prefix(1);
      continue;
    }
    const std::size_t equals = text.ToStringView().find_first_of("=;");
    if (equals == std::string_view::npos || text[equals] == ';') {
      const Slice item = Trimmed(text.substr(0, std::min(equals, text.size())));
      return Status::InvalidArgument(Quoted(item) + " is not name=value");
    }
    const std::string name = Trimmed(text.substr(0, equals)).ToString();
    text.remove_prefix(equals + 1);
    Slice value;
    CAMBIUM_RETURN_IF_ERROR(TakeValue(Quoted(name), &text, &value));
    if (!texts.emplace(name, value.ToString()).second) {
      return Status::InvalidArgument("option " + Quoted(name) + " is given twice");
    }
  }
  return texts;
}

template <typename Struct>
Status ApplyOptionTexts(const OptionTexts& texts, const ApplyRules& rules, Struct* options) {
  for (const auto& [name, value] : texts) {
    const OptionField<Struct>* const field = FindOptionField<Struct>(name);
    if (field == nullptr) {
      if (rules.ignore_unknown) continue;
      return UnknownOption<Struct>(name, rules.dynamic_only);
    }
    if (rules.dynamic_only && field->while_open != WhileOpen::kDynamic) {
      return Status::InvalidArgument(name + " is " + Quoted(value) +
                                     "; it can't be changed while the database is open");
    }
    CAMBIUM_RETURN_IF_ERROR(ParseOption(*field, value, rules.comparators, options));
  }
  return Status::OK();
}

template Status ApplyOptionTexts(const OptionTexts&, const ApplyRules&, DBOptions*);
template Status ApplyOptionTexts(const OptionTexts&, const ApplyRules&, ColumnFamilyOptions*);

Status GetDBOptionsFromString(const DBOptions& base, const std::string& text, DBOptions* out) {
  CAMBIUM_TRY(const OptionTexts texts, SplitOptionText(text));
  DBOptions changed = base;
  CAMBIUM_RETURN_IF_ERROR(ApplyOptionTexts(texts, {}, &changed));
  CAMBIUM_RETURN_IF_ERROR(CheckDbOptions(changed));
  *out = std::move(changed);
  return Status::OK();
}

Status GetColumnFamilyOptionsFromString(const ColumnFamilyOptions& base, const std::string& text,
                                        ColumnFamilyOptions* out) {
  CAMBIUM_TRY(const OptionTexts texts, SplitOptionText(text));
  ColumnFamilyOptions changed = base;
  CAMBIUM_RETURN_IF_ERROR(ApplyOptionTexts(texts, {}, &changed));
  CAMBIUM_RETURN_IF_ERROR(CheckColumnFamilyOptions(changed));
  *out = changed;
  return Status::OK();
}

Status GetOptionsFromString(const Options& base, const std::string& text, Options* out) {
  CAMBIUM_TRY(const OptionTexts texts, SplitOptionText(text));
  OptionTexts db_texts;
  OptionTexts family_texts;
  for (const auto& [name, value] : texts) {
    (FindOptionField<DBOptions>(name) != nullptr ? db_texts : family_texts)[name] = value;
  }
  Options changed = base;
  CAMBIUM_RETURN_IF_ERROR(ApplyOptionTexts<DBOptions>(db_texts, {}, &changed));
  CAMBIUM_RETURN_IF_ERROR(ApplyOptionTexts<ColumnFamilyOptions>(family_texts, {}, &changed));
  CAMBIUM_RETURN_IF_ERROR(CheckOptions(changed));
  *out = std::move(changed);
  return Status::OK();
}

Status GetStringFromDBOptions(std::string* text, const DBOptions& options, const std::string& delimiter) {
  CAMBIUM_RETURN_IF_ERROR(CheckDbOptions(options));
  *text = Join(options, delimiter);
  return Status::OK();
}

Status GetStringFromColumnFamilyOptions(std::string* text, const ColumnFamilyOptions& options,
                                        const std::string& delimiter) {
  CAMBIUM_RETURN_IF_ERROR(CheckColumnFamilyOptions(options));
  *text = Join(options, delimiter);
  return Status::OK();
}

}  // namespace cambium

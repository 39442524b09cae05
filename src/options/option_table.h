// The table of options of a database and of a column family. A row has the option's name, its field, its legal range,
// and whether it may change while the database is open. Checking, formatting and parsing all use these rows, so an
// option without a row does not work; tools/check_options.sh compares the rows with the structs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "cambium/options.h"
#include "cambium/slice.h"
#include "cambium/status.h"

namespace cambium {

enum class WhileOpen : unsigned char { kFixed, kDynamic };

// The legal range of a number, both ends included. A fraction has whole numbers as ends too.
struct OptionRange {
  std::int64_t low = 0;
  std::uint64_t high = 0;
  bool or_zero = false;  // 0 is legal too, with a meaning of its own
};

// The field is an object, for example a FileSystem, and has no text form.
struct NoText {};

template <typename Struct>
struct OptionField {
  using Member = std::variant<NoText, bool Struct::*, int Struct::*, std::uint64_t Struct::*, double Struct::*,
                              WALRecoveryMode Struct::*, IndexKind Struct::*, CompressionType Struct::*,
                              CompactionStyle Struct::*, ValueClustering Struct::*, const Comparator* Struct::*>;
  const char* name;
  Member member;
  WhileOpen while_open = WhileOpen::kFixed;
  OptionRange range = {};  // numbers only
};

// Returns the rows in the order of options.h. Struct is DBOptions or ColumnFamilyOptions.
template <typename Struct>
[[nodiscard]] std::span<const OptionField<Struct>> OptionFields();
template <typename Struct>
[[nodiscard]] const OptionField<Struct>* FindOptionField(Slice name);  // null if there is none

// Returns InvalidArgument for the first number out of its range; the message has its name, its value and the range.
template <typename Struct>
Status CheckOptionRanges(const Struct& options);

// Returns the option's value as text that ParseOption reads; "" for an object.
template <typename Struct>
[[nodiscard]] std::string FormatOption(const OptionField<Struct>& field, const Struct& options);

// Sets the option to the value that `text` names: "true", "64M", "kZSTD", "cambium.BytewiseComparator". Whole numbers
// may end in K, M, G or T, powers of 1024. A comparator is one of `known`, the library's own, or the one that *options
// has already. InvalidArgument names the option, the text and the legal values. A number is not checked against its
// range. `text` must have no space at its ends.
template <typename Struct>
Status ParseOption(const OptionField<Struct>& field, Slice text, std::span<const Comparator* const> known,
                   Struct* options);

// Returns the bytes as one line of printable text. Bytes that would end a value, a line or a name become "\xNN". Bytes
// above 0x7f are unchanged, so that UTF-8 names remain readable.
[[nodiscard]] std::string EscapeText(Slice bytes);
[[nodiscard]] bool UnescapeText(Slice text, std::string* bytes);  // false: a broken escape
// For messages: returns the first 100 bytes, escaped and in quotes.
[[nodiscard]] std::string Quoted(Slice bytes);

}  // namespace cambium

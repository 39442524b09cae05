// The options of a database and of a column family, a row each: name, place in its struct, legal range, and whether it
// may change while the database is open. What is checked, written as text and read from it follows from these rows, so
// an option that is missing here is nowhere; tools/check_options.sh compares them with the structs.
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

// What a number may be. For whole numbers and for fractions, whose ends are whole here.
struct OptionRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool or_zero = false;  // 0 is legal too, and stands for a default
};

// An object, as a FileSystem is: there is no text for it.
struct NoText {};

template <typename Struct>
struct OptionField {
  using Member = std::variant<NoText, bool Struct::*, int Struct::*, std::uint64_t Struct::*, double Struct::*,
                              WALRecoveryMode Struct::*, IndexKind Struct::*, CompressionType Struct::*,
                              CompactionStyle Struct::*, ValueClustering Struct::*, const Comparator* Struct::*>;
  const char* name;
  Member member;
  WhileOpen while_open = WhileOpen::kFixed;
  OptionRange range = {};  // of numbers
};

// In the order of options.h. For DBOptions and ColumnFamilyOptions.
template <typename Struct>
[[nodiscard]] std::span<const OptionField<Struct>> OptionFields();
template <typename Struct>
[[nodiscard]] const OptionField<Struct>* FindOptionField(Slice name);  // null if there is none

// InvalidArgument naming the first number that is out of its range, its value, and the range.
template <typename Struct>
Status CheckOptionRanges(const Struct& options);

// As ParseOption reads it. Not for NoText.
template <typename Struct>
[[nodiscard]] std::string FormatOption(const OptionField<Struct>& field, const Struct& options);

// "true", "64M", "kZSTD", "cambium.BytewiseComparator". Whole numbers may end in K, M, G or T, powers of 1024; a
// comparator is one of `known`, the library's own, or the one that *options has already. InvalidArgument names the
// option, the text and what is legal; a number is not compared with its range. `text` has no space around it.
template <typename Struct>
Status ParseOption(const OptionField<Struct>& field, Slice text, std::span<const Comparator* const> known,
                   Struct* options);

// Any bytes as printable text on one line, and back: "\\xNN" for what would end a value, a line or a name. Bytes above
// 0x7f are left alone, so that names in UTF-8 stay readable.
[[nodiscard]] std::string EscapeText(Slice bytes);
[[nodiscard]] bool UnescapeText(Slice text, std::string* bytes);  // false: a broken escape
// The same in quotes, and no more than its first 100 bytes: for messages.
[[nodiscard]] std::string Quoted(Slice bytes);

}  // namespace cambium

// The format of exports: one JSON object per line, ASCII only.
//
//   {"cambium_export":2}
//   {"family":"default","comparator":"cambium.BytewiseComparator"}            before the entries of each family
//   {"family":"default","key":"user\\x00\\x01","value":"a ring a year"}       keys and values as in key_text.h: \xNN,
//   ...                                                                       in JSON each backslash is written twice
//   {"end":true,"entries":12345}
//
// A file without its last line is truncated. Version 1 has no lines with a comparator: all its families are in byte
// order, and families without entries are missing.
#pragma once

namespace cambium::tool {

inline constexpr int kExportVersion = 2;
inline constexpr const char* kExportName = "cambium_export";

}  // namespace cambium::tool

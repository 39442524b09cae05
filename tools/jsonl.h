// The format of exports: one JSON object per line, ASCII only.
//
//   {"cambium_export":1}
//   {"family":"default","key":"user\\x00\\x01","value":"a ring a year"}       keys and values as in key_text.h: \xNN,
//   ...                                                                       in JSON each backslash is written twice
//   {"end":true,"entries":12345}
//
// A file without its last line is truncated.
#pragma once

namespace cambium::tool {

inline constexpr int kExportVersion = 1;
inline constexpr const char* kExportName = "cambium_export";

}  // namespace cambium::tool

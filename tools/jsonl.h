// The form in which entries are exported: one JSON object a line, ASCII only.
//
//   {"cambium_export":1}
//   {"family":"default","key":"user\\x00\\x01","value":"a ring a year"}       keys and values as key_text.h has them:
//   ...                                                                       \xNN, whose backslash JSON doubles
//   {"end":true,"entries":12345}
//
// Without its last line a file is cut off.
#pragma once

namespace cambium::tool {

inline constexpr int kExportVersion = 1;
inline constexpr const char* kExportName = "cambium_export";

}  // namespace cambium::tool

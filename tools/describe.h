// The content of a MANIFEST as JSON. Keys are text, or hexadecimal digits.
#pragma once

#include <nlohmann/json.hpp>

#include "cambium/options.h"
#include "manifest/edit.h"
#include "manifest/manifest_reader.h"
#include "vlog/record_format.h"

namespace cambium::tool {

[[nodiscard]] const char* NameOf(SegmentKind kind);
[[nodiscard]] const char* NameOf(IndexType type);
[[nodiscard]] const char* NameOf(RunKind kind);
[[nodiscard]] const char* NameOf(RecordOp op);
[[nodiscard]] const char* NameOf(Codec codec);
[[nodiscard]] const char* NameOf(FileKind kind);
[[nodiscard]] const char* NameOf(EntryKind kind);
[[nodiscard]] const char* NameOf(WALRecoveryMode mode);
[[nodiscard]] std::string IdText(const Id128& id);

[[nodiscard]] nlohmann::ordered_json Describe(const SegmentInfo& segment);
[[nodiscard]] nlohmann::ordered_json Describe(const RunInfo& run, bool hex);
[[nodiscard]] nlohmann::ordered_json Describe(const FamilyState& family, bool hex);
// The state: families, segments, accounts, positions.
[[nodiscard]] nlohmann::ordered_json Describe(const ManifestState& state, bool hex);
[[nodiscard]] nlohmann::ordered_json Describe(const Edit& edit, bool hex);
// One edit, with its place in the file.
[[nodiscard]] nlohmann::ordered_json Describe(const ManifestRecordSeen& record, bool hex);

}  // namespace cambium::tool

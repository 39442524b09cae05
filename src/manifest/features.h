// The optional feature bits in the header of a MANIFEST: what of its state an older version does not know.
//
// The bits follow from the state, so they need no place of their own in it. An edit after which the state needs a new
// bit is committed by a new file. A bit that is no longer needed is left out of the next new file; each Open for
// writing starts one.
#pragma once

#include <cstdint>
#include <string_view>

#include "manifest/edit.h"
#include "manifest/state.h"

namespace cambium {

// The column family whose entries are prepared transactions (transactions/prepared_record.h).
inline constexpr std::string_view kPreparedFamilyName = "cambium.prepared";

// The state has the family of prepared transactions. A version that does not know it would need its options to open the
// database for writing, and would not lock the keys of prepared transactions.
inline constexpr std::uint32_t kFeaturePreparedTransactions = 1;

inline constexpr std::uint32_t kKnownOptionalFeatures = kFeaturePreparedTransactions;

[[nodiscard]] inline std::uint32_t OptionalFeaturesOf(const ManifestState& state) {
  for (const auto& [id, family] : state.families) {
    if (family.name == kPreparedFamilyName) return kFeaturePreparedTransactions;
  }
  return 0;
}

// The bits that the state may need after the edit because of what the edit adds.
[[nodiscard]] inline std::uint32_t OptionalFeaturesOf(const Edit& edit) {
  for (const FamilyEdit& family : edit.families) {
    if (family.create.has_value() && family.create->name == kPreparedFamilyName) return kFeaturePreparedTransactions;
  }
  return 0;
}

}  // namespace cambium

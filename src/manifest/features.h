// The feature bits in the header of a MANIFEST: what of its state an older version does not know.
//
// The bits follow from the state, so they need no place of their own in it. An edit after which the state needs a new
// bit is committed by a new file. A bit that is no longer needed is left out of the next new file; each Open for
// writing starts one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/file_header.h"
#include "manifest/edit.h"
#include "manifest/state.h"
#include "util/mutant.h"

namespace cambium {

// The column family whose entries are prepared transactions (transactions/prepared_record.h).
inline constexpr std::string_view kPreparedFamilyName = "cambium.prepared";

// The state has the family of prepared transactions. A version that does not know it would need its options to open the
// database for writing, and would not lock the keys of prepared transactions.
inline constexpr std::uint32_t kFeaturePreparedTransactions = 1;

inline constexpr std::uint32_t kKnownOptionalFeatures = kFeaturePreparedTransactions;

// The feature bits of a header. Of the required ones there is kFeatureVersions: the state has a family that keeps
// versions. A version that does not know it cannot read the pages of the family.
struct Features {
  std::uint32_t required = 0;
  std::uint32_t optional = 0;

  void Add(const Features& other) {
    required |= other.required;
    optional |= other.optional;
  }
  [[nodiscard]] bool HasAll(const Features& needed) const {
    return (needed.required & ~required) == 0 && (needed.optional & ~optional) == 0;
  }
};

// NotSupported if the header has an optional feature that this version does not know. For all who write the state
// again: a MANIFEST that they write would lack the bit.
[[nodiscard]] inline Status CheckWritable(const FileHeader& header, const std::string& path) {
  const std::uint32_t unknown = header.optional_features & ~kKnownOptionalFeatures;
  if (unknown == 0) return Status::OK();
  return Status::NotSupported(path + ": was written with optional features " + std::to_string(unknown) +
                              " that this version does not know; it can be opened for reading only");
}

// The bits that a family needs.
[[nodiscard]] inline Features FeaturesOf(std::string_view family_name, bool keeps_versions) {
  const bool is_prepared = family_name == kPreparedFamilyName && !MutantIs(Mutant::kNoBitForPreparedTransactions);
  return {keeps_versions && !MutantIs(Mutant::kNoBitForVersions) ? kFeatureVersions : 0,
          is_prepared ? kFeaturePreparedTransactions : 0};
}

[[nodiscard]] inline Features FeaturesOf(const ManifestState& state) {
  Features features;
  for (const auto& [id, family] : state.families) {
    features.Add(FeaturesOf(family.name, family.versions_since.has_value()));
  }
  return features;
}

// The bits that the state may need after the edit because of what the edit adds.
[[nodiscard]] inline Features FeaturesOf(const Edit& edit) {
  Features features;
  for (const FamilyEdit& family : edit.families) {
    features.Add(FeaturesOf(family.create.has_value() ? std::string_view(family.create->name) : std::string_view(),
                            family.versions_since.has_value()));
  }
  return features;
}

}  // namespace cambium

// LookupsAgree: checks that looking keys up together gives the same answers as looking up each alone.
#pragma once

#include <string>
#include <vector>

#include "index/filter.h"
#include "index/index.h"
#include "util/result.h"

namespace cambium::testing {

// Looks up each key, and the next possible key after it, which rarely exists. Returns OK, or an error if answers
// differ.
inline Status LookupsAgree(const Layers& layers, const std::vector<std::string>& keys) {
  std::vector<std::string> all;
  for (const std::string& key : keys) {
    all.push_back(key);
    all.push_back(key + '\0');
  }
  std::vector<Lookup> lookups;
  lookups.reserve(all.size());
  for (const std::string& key : all) lookups.emplace_back(key, FilterHash(key));
  layers.FindTogether(lookups);
  for (const Lookup& lookup : lookups) {
    PageRef keep;
    Entry alone;
    CAMBIUM_TRY(const bool found, layers.Find(lookup.key, &keep, &alone));
    CAMBIUM_RETURN_IF_ERROR(lookup.status);
    const bool same = lookup.is_found == found && lookup.is_done == found &&
                      (!found || (lookup.entry.kind == alone.kind && lookup.entry.inline_value == alone.inline_value &&
                                  (!alone.HasAddress() || lookup.entry.address == alone.address)));
    if (!same) return Status::Corruption("a key has different answers when looked up alone and together with others");
  }
  return Status::OK();
}

}  // namespace cambium::testing

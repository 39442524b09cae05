// Whether keys that are looked up together are answered as each alone.
#pragma once

#include <string>
#include <vector>

#include "index/filter.h"
#include "index/index.h"
#include "util/result.h"

namespace cambium::testing {

// Each of the keys, and one right behind it that is hardly ever there. OK, or what differs.
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
    if (!same) return Status::Corruption("among others a key is answered otherwise than alone");
  }
  return Status::OK();
}

}  // namespace cambium::testing

// Opening a database of any kind, as the C interface does it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "c/wrappers.h"

namespace cambium::c {

// `opener` opens the database by the options and the path, and sets a std::unique_ptr<DB>. Null after an error.
template <typename Open>
cambium_t* OpenBy(Open opener, const cambium_options_t* options, const char* name, char** errptr) {
  cambium_t* db = nullptr;
  Guarded(errptr, [&]() -> Status {
    auto opened = std::make_unique<cambium_t>();
    if (Status status = opener(options->rep, name, &opened->rep); !status.ok()) return status;
    LogHints(*options, opened->rep.get());
    db = opened.release();
    return Status::OK();
  });
  return db;
}

// The same with `count` families: `opener` also takes their descriptors, and sets their handles.
template <typename Open>
cambium_t* OpenFamiliesBy(Open opener, const cambium_options_t* options, const char* name, int count,
                          const char* const* names, const cambium_options_t* const* family_options,
                          cambium_column_family_handle_t** out, char** errptr) {
  cambium_t* db = nullptr;
  Guarded(errptr, [&]() -> Status {
    std::vector<ColumnFamilyDescriptor> families;
    if (Status s = DescribeFamilies(count, names, family_options, &families); !s.ok()) return s;
    const std::size_t n = families.size();
    std::vector<std::unique_ptr<cambium_column_family_handle_t>> made;
    for (std::size_t i = 0; i < n; ++i) made.push_back(std::make_unique<cambium_column_family_handle_t>());
    auto opened = std::make_unique<cambium_t>();
    std::vector<ColumnFamilyHandle*> handles;
    if (Status status = opener(options->rep, name, families, &handles, &opened->rep); !status.ok()) return status;
    LogHints(*options, opened->rep.get());
    for (std::size_t i = 0; i < n; ++i) {
      if (family_options[i] != options) LogHints(*family_options[i], opened->rep.get());
    }
    for (std::size_t i = 0; i < n; ++i) {
      *made[i] = {handles[i], opened->rep.get()};
      out[i] = made[i].release();
    }
    db = opened.release();
    return Status::OK();
  });
  return db;
}

}  // namespace cambium::c

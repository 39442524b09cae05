// A process that writes until it is killed, and what must be left of its work.
//
// Batch b puts a handful of keys of its own and the number b under one key that all batches share; sizes and bytes
// follow from b. It is written with sync and then acknowledged through a pipe. After kill -9 every acknowledged batch
// must be whole, at most one more may be there, and none in part.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/db.h"
#include "cambium/options.h"
#include "cambium/status.h"

namespace cambium::demo {

struct Crash {
  std::uint64_t acknowledged = 0;  // batches of this child
  std::uint64_t bytes = 0;         // keys and values in them
};

// Forks a child that opens the database at `path`, writes batches from number `first` on, and is killed after
// `kill_after_micros`, once it has acknowledged a few. The calling process must not have the database open.
Status WriteAndKill(const Options& options, const std::string& path, std::uint64_t first,
                    std::uint64_t kill_after_micros, Crash* crash);

// Checks all batches from 0 on, `acknowledged` of them promised. *survivors: how many there are.
Status CheckBatches(DB* db, std::uint64_t acknowledged, std::uint64_t* survivors);

}  // namespace cambium::demo

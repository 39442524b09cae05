// A process that writes until it is killed, and the check of the database that it leaves.
//
// Batch b puts a handful of keys of its own, and the number b under one key that all batches share. Sizes and bytes
// follow from b. A batch is written with sync and then acknowledged through a pipe. After kill -9 every acknowledged
// batch must be whole, at most one more may exist, and none in part.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/db.h"
#include "cambium/options.h"
#include "cambium/status.h"

namespace cambium::demo {

struct Crash {
  std::uint64_t acknowledged = 0;  // batches acknowledged by this child
  std::uint64_t bytes = 0;         // keys and values in them
};

// Forks a child that opens the database at `path`, writes batches from number `first` on, and is killed after
// `kill_after_micros`, once it has acknowledged a few. The calling process must not have the database open.
Status WriteAndKill(const Options& options, const std::string& path, std::uint64_t first,
                    std::uint64_t kill_after_micros, Crash* crash);

// Checks all batches from 0 on, of which `acknowledged` must exist. Sets *survivors to the number of batches found.
Status CheckBatches(DB* db, std::uint64_t acknowledged, std::uint64_t* survivors);

}  // namespace cambium::demo

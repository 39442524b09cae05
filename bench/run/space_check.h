// Whether the disk has room for a run, before it begins.
#pragma once

#include <string>

#include "flags/bench_flags.h"

namespace cambium::bench {

// Bytes that the largest database of this run may take for a while: of an engine that collects garbage some times its
// keys and values, by what it is allowed and was seen to take, more beside a reader that stays; of one that does not all
// that is written. With --db all databases stay.
std::uint64_t SpaceNeeded(const BenchFlags& flags);

// What is wrong, or "": the bench's own knowledge of the keys does not fit into so much memory; 0: that is not known.
std::string ComplainOfMemory(const BenchFlags& flags, std::uint64_t memory_bytes);

// What is wrong, or "": `directory` has too little room.
std::string ComplainOfSpace(const BenchFlags& flags, const std::string& directory);

}  // namespace cambium::bench

// The settings of RocksDB as a text, which RocksDB itself parses. Every release gets the same text, so all of them run
// with the same settings, and an option that a release does not know is an error.
#pragma once

#include <string>

#include "engines/engine.h"

namespace cambium::bench {

enum class RocksDbShape : unsigned char {
  kLeveled,
  kUniversal,
  kBlobs,
  kBlobsWithoutGc,
  kDirectBlobs,  // a put writes its value to a blob file, and only a reference to the log and the memtable
};

[[nodiscard]] bool HasBlobs(RocksDbShape shape);

// Returns the text for GetOptionsFromString: "name=value;...". The cache that it describes is made when it is parsed.
[[nodiscard]] std::string RocksDbOptionsText(const EngineConfig& config, RocksDbShape shape);

// Returns which flag this shape cannot satisfy, or "". RocksDB would silently replace an unsupported number of levels
// by a supported one.
[[nodiscard]] std::string ComplainOfRocksDbLevels(const EngineConfig& config, RocksDbShape shape);

// Describes the settings, for Engine::Settings().
[[nodiscard]] std::string DescribeRocksDbOptions(const EngineConfig& config, RocksDbShape shape);

}  // namespace cambium::bench

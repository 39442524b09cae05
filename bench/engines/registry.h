// The engines that this program knows by name, which of them it was built with, and which can run on this machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/engine.h"

namespace cambium::bench {

struct EngineEntry {
  const char* name;
  const char* summary;
  // Null if the engine is not built in; then `needs` names what was missing when the build was configured.
  std::unique_ptr<Engine> (*make)(const EngineConfig&);
  const char* needs;
  bool is_store = true;
  // Returns why the engine cannot run on this machine, or "". Null if an engine that is built in always can.
  std::string (*refuse)() = nullptr;
};

const std::vector<EngineEntry>& Engines();
// Returns null for an unknown name.
const EngineEntry* FindEngine(const std::string& name);
// Returns "" if the engine can run here, else "not built in: ..." or "refused: ..." with the reason.
std::string WhyUnavailable(const EngineEntry& entry);

std::unique_ptr<Engine> MakeCambium(const EngineConfig& config);
std::unique_ptr<Engine> MakeRocksDbLeveled(const EngineConfig& config);
std::unique_ptr<Engine> MakeRocksDbUniversal(const EngineConfig& config);
std::unique_ptr<Engine> MakeRocksDbWithBlobs(const EngineConfig& config);
std::unique_ptr<Engine> MakeRocksDbWithoutBlobGc(const EngineConfig& config);
std::unique_ptr<Engine> MakeRocksDb11Leveled(const EngineConfig& config);
std::unique_ptr<Engine> MakeRocksDb11WithBlobs(const EngineConfig& config);
std::unique_ptr<Engine> MakeRocksDb11WithDirectBlobs(const EngineConfig& config);
std::unique_ptr<Engine> MakeLmdb(const EngineConfig& config);
std::unique_ptr<Engine> MakeLevelDb(const EngineConfig& config);
std::unique_ptr<Engine> MakeWiredTiger(const EngineConfig& config);
std::unique_ptr<Engine> MakeRaw(const EngineConfig& config);

}  // namespace cambium::bench

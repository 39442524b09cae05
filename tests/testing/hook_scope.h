// HookScope: a hook of a simulated file system, for the scope's lifetime. Declare it after all that the hook uses: a
// database that is destroyed later still makes calls.
#pragma once

#include <memory>
#include <utility>

#include "io/sim/sim_file_system.h"

namespace cambium::testing {

class HookScope {
 public:
  HookScope(std::shared_ptr<SimFileSystem> fs, SimHook hook) : fs_(std::move(fs)), id_(fs_->AddHook(std::move(hook))) {}
  ~HookScope() { fs_->RemoveHook(id_); }
  HookScope(const HookScope&) = delete;
  HookScope& operator=(const HookScope&) = delete;

 private:
  const std::shared_ptr<SimFileSystem> fs_;
  const int id_;
};

}  // namespace cambium::testing

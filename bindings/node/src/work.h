// Calls of the library on a thread of the pool, as promises; and the same calls on the thread of JavaScript.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "closable.h"
#include "napi.h"

namespace cambium_node {

using Run = std::function<void(Error* error)>;
using Finish = std::function<napi_value(napi_env env)>;

// Calls `run` on a thread of the pool, then `finish` on this thread, and settles `deferred` (may be null: then errors
// are lost). `done` is called at the end in every case.
void StartWork(napi_env env, const char* name, napi_deferred deferred, Run run, Finish finish,
               std::function<void()> done = nullptr);

// `run`, with C++ exceptions as errors.
void RunGuarded(const Run& run, Error* error) noexcept;

// A call of the objects in `owners`: at once if `is_sync`; otherwise as a promise, and the objects are not closed
// before it ends.
napi_value Perform(napi_env env, bool is_sync, const char* name, std::vector<std::shared_ptr<Closable>> owners, Run run,
                   Finish finish, std::function<void()> done = nullptr);

inline napi_value FinishUndefined(napi_env env) { return Undefined(env); }

}  // namespace cambium_node

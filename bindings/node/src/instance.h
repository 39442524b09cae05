// The addon's data for one environment: the main thread, or a worker thread.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>

#include "napi.h"

namespace cambium_node {

class Closable;
struct JsFunctions;

// The instance data of an environment. Used only by its thread.
struct Instance {
  napi_ref make_error = nullptr;            // lib/errors.js: text, code, subcode, fatal -> Error
  std::unordered_set<Closable*> closables;  // open databases and backup engines
  std::shared_ptr<JsFunctions> functions;   // JavaScript functions that the library calls
};

Instance& InstanceOf(napi_env env);
// Makes the data, and the hook that closes what is still open when the environment ends.
void CreateInstance(napi_env env);
// Lets jobs of the library that wait for JavaScript go on without it.
void AbandonFunctionsOf(Instance& instance) noexcept;
// False if no JavaScript can run any more.
bool MakeError(napi_env env, const std::string& text, napi_value* error);

}  // namespace cambium_node

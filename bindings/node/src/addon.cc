// The addon's entry. It is loaded once per environment.
#include <unistd.h>

#include "batch.h"
#include "database.h"
#include "instance.h"
#include "napi.h"
#include "options.h"

namespace cambium_node {

namespace {

// (makeError)
napi_value Initialize(const Args& args) {
  Instance& instance = InstanceOf(args.env());
  if (instance.make_error != nullptr) return Undefined(args.env());
  Check(args.env(), napi_create_reference(args.env(), args[0], 1, &instance.make_error));
  return Undefined(args.env());
}

// (text) -> the error that a call would throw for this text
napi_value ErrorOf(const Args& args) {
  napi_value error = nullptr;
  const std::string text = ToText(args.env(), args[0], "the text");
  return MakeError(args.env(), text, &error) ? error : Undefined(args.env());
}

// () -> whether a call on another thread may wait for a comparison in JavaScript
napi_value IsComparing(const Args& args) {
  for (const Closable* const closable : InstanceOf(args.env()).closables) {
    if (closable->IsComparing()) return FromBool(args.env(), true);
  }
  return FromBool(args.env(), false);
}

// (exit code): ends the process now, without what is usually done at its end
napi_value ExitNow(const Args& args) { _exit(static_cast<int>(args.Uint32(0))); }

// (): from now on the library gets no answers from JavaScript
napi_value AbandonFunctions(const Args& args) {
  AbandonFunctionsOf(InstanceOf(args.env()));
  return Undefined(args.env());
}

}  // namespace

napi_value Load(napi_env env, napi_value exports) {
  CreateInstance(env);
  Export<Initialize>(env, exports, "initialize");
  Export<ErrorOf>(env, exports, "makeError");
  Export<IsComparing>(env, exports, "isComparing");
  Export<ExitNow>(env, exports, "exitNow");
  Export<AbandonFunctions>(env, exports, "abandonFunctions");
  ExportDatabase(env, exports);
  ExportFamilies(env, exports);
  ExportReads(env, exports);
  ExportWrites(env, exports);
  ExportConditionalWrites(env, exports);
  ExportBatches(env, exports);
  ExportIterators(env, exports);
  ExportOverlays(env, exports);
  ExportSnapshots(env, exports);
  ExportUpkeep(env, exports);
  ExportProperties(env, exports);
  ExportBackups(env, exports);
  ExportOffline(env, exports);
  ExportLimits(env, exports);
  return exports;
}

}  // namespace cambium_node

NAPI_MODULE_INIT() {
  try {
    return cambium_node::Load(env, exports);
  } catch (...) {
    cambium_node::ThrowPending(env);
    return nullptr;
  }
}

#include "instance.h"

#include <vector>

#include "closable.h"
#include "js_function.h"

namespace cambium_node {

Instance& InstanceOf(napi_env env) {
  void* data = nullptr;
  Check(env, napi_get_instance_data(env, &data));
  return *static_cast<Instance*>(data);
}

void CreateInstance(napi_env env) {
  auto instance = std::make_unique<Instance>();
  instance->functions = std::make_shared<JsFunctions>();
  Check(env,
        napi_set_instance_data(
            env, instance.get(), [](napi_env, void* data, void*) { delete static_cast<Instance*>(data); }, nullptr));
  Instance* const made = instance.release();
  Check(env, napi_add_env_cleanup_hook(
                 env,
                 [](void* data) {
                   auto& ending = *static_cast<Instance*>(data);
                   if (IsForked()) return;
                   AbandonFunctionsOf(ending);  // first, so that the databases can be closed
                   std::vector<std::shared_ptr<Closable>> open;
                   for (Closable* const closable : ending.closables) open.push_back(closable->shared_from_this());
                   for (const auto& closable : open) closable->Abandon();
                 },
                 made));
}

void AbandonFunctionsOf(Instance& instance) noexcept {
  const std::lock_guard lock(instance.functions->mutex);
  for (JsFunction* const function : instance.functions->all) function->Abandon();
}

bool MakeError(napi_env env, const std::string& text, napi_value* error) {
  void* data = nullptr;
  napi_value make = nullptr;
  napi_value receiver = nullptr;
  napi_value described[4] = {};  // the text, its code and subcode, and whether it is fatal
  return napi_get_instance_data(env, &data) == napi_ok && data != nullptr &&
         static_cast<Instance*>(data)->make_error != nullptr &&
         napi_get_reference_value(env, static_cast<Instance*>(data)->make_error, &make) == napi_ok &&
         napi_get_undefined(env, &receiver) == napi_ok &&
         napi_create_string_utf8(env, text.data(), text.size(), &described[0]) == napi_ok &&
         napi_create_int32(env, cambium_error_code(text.c_str()), &described[1]) == napi_ok &&
         napi_create_int32(env, cambium_error_subcode(text.c_str()), &described[2]) == napi_ok &&
         napi_get_boolean(env, cambium_error_severity(text.c_str()) == cambium_severity_fatal, &described[3]) ==
             napi_ok &&
         napi_call_function(env, receiver, make, 4, described, error) == napi_ok;
}

}  // namespace cambium_node

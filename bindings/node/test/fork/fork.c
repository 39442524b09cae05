/* For tests: calls a JavaScript function in a forked child process. */
#include <node_api.h>
#include <sys/wait.h>
#include <unistd.h>

/* (function) -> the child's exit code, which is what the function returns */
static napi_value fork_and_call(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value function;
  napi_value receiver;
  napi_value result;
  int status = 0;
  pid_t child;
  napi_get_cb_info(env, info, &count, &function, NULL, NULL);
  child = fork();
  if (child == 0) {
    int32_t code = 99;
    alarm(20); /* a child that hangs is killed */
    napi_get_undefined(env, &receiver);
    if (napi_call_function(env, receiver, function, 0, NULL, &result) == napi_ok) {
      napi_get_value_int32(env, result, &code);
    }
    _exit(code);
  }
  waitpid(child, &status, 0);
  napi_create_int32(env, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), &result);
  return result;
}

NAPI_MODULE_INIT() {
  napi_value function;
  napi_create_function(env, "forkAndCall", NAPI_AUTO_LENGTH, fork_and_call, NULL, &function);
  napi_set_named_property(env, exports, "forkAndCall", function);
  return exports;
}

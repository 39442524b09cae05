#include "work.h"

#include <exception>
#include <new>

#include "instance.h"

namespace cambium_node {

namespace {

struct Work {
  napi_async_work work = nullptr;
  napi_deferred deferred = nullptr;
  Run run;
  Finish finish;
  std::function<void()> done;
  Error error;
};

void Reject(napi_env env, napi_deferred deferred, const std::string& text) {
  napi_value error = nullptr;
  if (MakeError(env, text, &error)) napi_reject_deferred(env, deferred, error);
}

// Settles the promise. If no JavaScript can run any more, nothing is left to do.
void Settle(napi_env env, Work& work) {
  if (work.error.IsSet()) {
    if (work.deferred != nullptr) Reject(env, work.deferred, work.error.Text());
    return;
  }
  try {
    const napi_value value = work.finish(env);
    if (work.deferred != nullptr) napi_resolve_deferred(env, work.deferred, value);
  } catch (...) {
    ThrowPending(env);
    napi_value error = nullptr;
    if (napi_get_and_clear_last_exception(env, &error) == napi_ok && work.deferred != nullptr) {
      napi_reject_deferred(env, work.deferred, error);
    }
  }
}

void Complete(napi_env env, napi_status, void* data) {
  const std::unique_ptr<Work> work(static_cast<Work*>(data));
  Settle(env, *work);
  napi_delete_async_work(env, work->work);
  // Releases the objects that the call has used. `done` comes after that, because it may begin to close the database.
  work->run = nullptr;
  work->finish = nullptr;
  if (work->done != nullptr) work->done();
}

}  // namespace

void RunGuarded(const Run& run, Error* error) noexcept {
  try {
    run(error);
  } catch (const Failure& failure) {
    error->Set(failure.text);
  } catch (const std::bad_alloc&) {
    error->Set("Operation aborted (out of memory)");
  } catch (const std::exception& exception) {
    error->Set(exception.what());
  }
}

void StartWork(napi_env env, const char* name, napi_deferred deferred, Run run, Finish finish,
               std::function<void()> done) {
  auto work = std::make_unique<Work>();
  work->deferred = deferred;
  work->run = std::move(run);
  work->finish = std::move(finish);
  work->done = std::move(done);
  napi_value resource_name = nullptr;
  Check(env, napi_create_string_utf8(env, name, NAPI_AUTO_LENGTH, &resource_name));
  Check(env, napi_create_async_work(
                 env, nullptr, resource_name,
                 [](napi_env, void* data) {
                   auto& running = *static_cast<Work*>(data);
                   RunGuarded(running.run, &running.error);
                 },
                 &Complete, work.get(), &work->work));
  const napi_status queued = napi_queue_async_work(env, work->work);
  if (queued != napi_ok) {
    napi_delete_async_work(env, work->work);
    Check(env, queued);
  }
  static_cast<void>(work.release());
}

napi_value Perform(napi_env env, bool is_sync, const char* name, std::vector<std::shared_ptr<Closable>> owners, Run run,
                   Finish finish, std::function<void()> done) {
  for (const auto& owner : owners) owner->CheckOpen();
  if (is_sync) {
    Error error;
    RunGuarded(run, &error);
    if (done != nullptr) done();
    error.Throw();
    return finish(env);
  }
  napi_deferred deferred = nullptr;
  napi_value promise = nullptr;
  Check(env, napi_create_promise(env, &deferred, &promise));
  for (const auto& owner : owners) owner->Enter();
  auto leave = [owners, done] {
    if (done != nullptr) done();
    for (const auto& owner : owners) owner->Leave();
  };
  try {
    StartWork(env, name, deferred, std::move(run), std::move(finish), leave);
  } catch (...) {
    leave();
    throw;
  }
  return promise;
}

}  // namespace cambium_node

// Reads many values at once from one thread: with callbacks, then with coroutines.
#include <cambium/async.h>
#include <cambium/db.h>

#include <coroutine>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

namespace {

// The simplest coroutine: it starts at once, and destroys itself at its end.
struct Task {
  struct promise_type {
    static Task get_return_object() { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() {}
    static void unhandled_exception() { std::terminate(); }
  };
};

// Adds up the sizes of some values, one read after the other.
Task AddSizes(cambium::AsyncReader* reader, int from, int count, std::size_t* sum) {
  cambium::PinnableSlice value;
  for (int i = from; i < from + count; ++i) {
    const std::string key = std::to_string(i);
    const cambium::Status s = co_await reader->Get({}, key, &value);
    if (s.ok()) *sum += value.size();
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kKeys = 1000;
  cambium::Options options;
  options.create_if_missing = true;
  std::unique_ptr<cambium::DB> db;
  cambium::Status s = cambium::DB::Open(options, argc > 1 ? argv[1] : "async.db", &db);
  for (int i = 0; i < kKeys && s.ok(); ++i) s = db->Put({}, std::to_string(i), std::string(1000, 'v'));

  std::unique_ptr<cambium::AsyncReader> reader;
  if (s.ok()) s = db->NewAsyncReader({.depth = 64}, &reader);

  // Callbacks: begin reads while there is room, and let Poll end them.
  std::size_t sum = 0;
  for (int i = 0; i < kKeys && s.ok(); ++i) {
    while (!reader->HasRoom()) reader->Poll();
    s = reader->Get({}, std::to_string(i), [&sum](const cambium::Status& read, cambium::Slice value) {
      if (read.ok()) sum += value.size();
    });
  }
  while (s.ok() && reader->in_flight() > 0) reader->Poll();
  std::printf("%zu bytes by callbacks\n", sum);

  // Coroutines: ten of them read at the same time.
  std::size_t sum_of_tasks = 0;
  for (int i = 0; i < 10 && s.ok(); ++i) AddSizes(reader.get(), i * 100, 100, &sum_of_tasks);
  while (s.ok() && reader->in_flight() > 0) reader->Poll();
  std::printf("%zu bytes by coroutines\n", sum_of_tasks);

  reader.reset();  // before the database is closed
  if (s.ok()) s = db->Close();
  if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
  return s.ok() && sum == kKeys * 1000 && sum_of_tasks == sum ? 0 : 1;
}

#include "cambium/async.h"

#include <limits>
#include <span>

#include "c/wrappers.h"

using cambium::ColumnFamilyHandle;
using cambium::PinnableSlice;
using cambium::Slice;
using cambium::Status;
using cambium::c::Guarded;
using cambium::c::RepOf;
using cambium::c::SaveError;

struct cambium_asyncreader_t {
  std::unique_ptr<cambium::AsyncReader> rep;
  cambium::DB* db;
};

namespace {

static_assert(cambium::AsyncReader::kForever == std::numeric_limits<std::uint64_t>::max());

// The message of a result for its callback; null if the key was found, or does not exist.
class Message {
 public:
  explicit Message(const Status& status) noexcept {
    if (!status.IsNotFound()) SaveError(&text_, status);
  }
  ~Message() { cambium_free(text_); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  [[nodiscard]] const char* text() const { return text_; }

 private:
  char* text_ = nullptr;
};

// The arguments for the callback of several keys. All memory is taken before the reads begin, except that of messages.
struct Many {
  explicit Many(std::size_t count) : values(count), lengths(count), errors(count) {}
  ~Many() {
    for (char* const error : errors) cambium_free(error);
  }
  Many(const Many&) = delete;
  Many& operator=(const Many&) = delete;
  std::vector<const char*> values;
  std::vector<size_t> lengths;
  std::vector<char*> errors;
};

// Runs a call that begins a read. A reader without room is no error.
template <typename Call>
unsigned char Begin(char** errptr, Call&& call) {
  bool has_begun = false;
  Guarded(errptr, [&]() -> Status {
    Status status = call();
    has_begun = status.ok();
    return status.IsBusy() ? Status::OK() : std::move(status);
  });
  return cambium::c::Truth(has_begun);
}

unsigned char Get(cambium_asyncreader_t* reader, const cambium_readoptions_t* options, ColumnFamilyHandle* family,
                  Slice key, cambium_asyncreader_callback_t callback, void* state, char** errptr) {
  return Begin(errptr, [&] {
    if (callback == nullptr) return reader->rep->Get(options->rep, family, key, cambium::AsyncReader::Callback());
    return reader->rep->Get(options->rep, family, key, [callback, state](const Status& status, const Slice& value) {
      const Message message(status);
      callback(state, status.ok() ? value.data() : nullptr, value.size(), message.text());
    });
  });
}

}  // namespace

cambium_asyncreader_t* cambium_asyncreader_create(cambium_t* db, size_t depth, uint64_t bytes_max,
                                                  unsigned char use_io_uring, char** errptr) {
  std::unique_ptr<cambium_asyncreader_t> made;
  Guarded(errptr, [&] {
    made.reset(new cambium_asyncreader_t{nullptr, db->rep.get()});
    Status status = db->rep->NewAsyncReader(
        {.depth = depth, .bytes_max = bytes_max, .use_io_uring = use_io_uring != 0}, &made->rep);
    if (!status.ok()) made.reset();
    return status;
  });
  return made.release();
}
// The destructor of the reader calls callbacks, which may use `reader`. So rep must not be null before it has returned.
void cambium_asyncreader_destroy(cambium_asyncreader_t* reader) {
  if (reader == nullptr) return;
  delete reader->rep.get();
  static_cast<void>(reader->rep.release());
  delete reader;
}

unsigned char cambium_asyncreader_get(cambium_asyncreader_t* reader, const cambium_readoptions_t* options,
                                      const char* key, size_t key_length, cambium_asyncreader_callback_t callback,
                                      void* state, char** errptr) {
  return Get(reader, options, reader->db->DefaultColumnFamily(), Slice(key, key_length), callback, state, errptr);
}
unsigned char cambium_asyncreader_get_cf(cambium_asyncreader_t* reader, const cambium_readoptions_t* options,
                                         cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                         cambium_asyncreader_callback_t callback, void* state, char** errptr) {
  return Get(reader, options, RepOf(family), Slice(key, key_length), callback, state, errptr);
}

unsigned char cambium_asyncreader_multi_get_cf(cambium_asyncreader_t* reader, const cambium_readoptions_t* options,
                                               const cambium_column_family_handle_t* const* families, size_t num_keys,
                                               const char* const* keys, const size_t* key_lengths,
                                               cambium_asyncreader_many_callback_t callback, void* state,
                                               char** errptr) {
  return Begin(errptr, [&] {
    std::vector<Slice> slices;
    std::vector<ColumnFamilyHandle*> handles;
    for (std::size_t i = 0; i < num_keys; ++i) {
      slices.emplace_back(keys[i], key_lengths[i]);
      handles.push_back(RepOf(families[i]));
    }
    if (callback == nullptr) {
      return reader->rep->MultiGet(options->rep, num_keys, handles.data(), slices.data(), nullptr);
    }
    const auto many = std::make_shared<Many>(num_keys);
    return reader->rep->MultiGet(
        options->rep, num_keys, handles.data(), slices.data(),
        [many, callback, state](std::span<const Status> statuses, std::span<PinnableSlice> values) {
          for (std::size_t i = 0; i < statuses.size(); ++i) {
            if (statuses[i].ok()) many->values[i] = values[i].data();
            many->lengths[i] = values[i].size();
            if (!statuses[i].IsNotFound()) SaveError(&many->errors[i], statuses[i]);
          }
          callback(state, statuses.size(), many->values.data(), many->lengths.data(), many->errors.data());
        });
  });
}

void cambium_asyncreader_submit(cambium_asyncreader_t* reader) { reader->rep->Submit(); }
size_t cambium_asyncreader_poll(cambium_asyncreader_t* reader, size_t least, uint64_t timeout_micros) {
  return reader->rep->Poll(least, timeout_micros);
}
size_t cambium_asyncreader_in_flight(const cambium_asyncreader_t* reader) { return reader->rep->in_flight(); }
int cambium_asyncreader_event_fd(cambium_asyncreader_t* reader, char** errptr) {
  int fd = -1;
  Guarded(errptr, [&] { return reader->rep->EventFd(&fd); });
  return fd;
}

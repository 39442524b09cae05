// An iterator of a database.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "database.h"
#include "overlay.h"

namespace cambium_node {

// One call at a time; a second one fails with Busy. Closing the database destroys the iterator.
class Iterator {
 public:
  static constexpr std::uint32_t kKind = 0x69746572;

  enum class Move : std::uint32_t { kFirst = 0, kLast = 1, kSeek = 2, kSeekForPrev = 3, kNext = 4, kPrev = 5 };

  Iterator(std::shared_ptr<Database> database, std::shared_ptr<Family> family, std::uint32_t flags,
           std::shared_ptr<Snapshot> snapshot, std::optional<std::string> lower, std::optional<std::string> upper,
           std::shared_ptr<Overlay> overlay);
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;
  ~Iterator();

  [[nodiscard]] const std::shared_ptr<Database>& database() const { return database_; }
  void CheckUsable() const;
  void Begin();  // a call
  void End();
  // At once, or when the call that runs has ended.
  void Close();
  void Destroy() noexcept;

  // These may run on any thread.
  void Go(Move move, const std::string& key, Error* error);
  [[nodiscard]] bool IsValid() const { return iterator_ != nullptr && cambium_iter_valid(iterator_) != 0; }

  // Copies entries, each key before its value, to `to`, and the lengths of keys and values to `lengths`.
  struct Request {
    bool is_reverse = false;
    bool has_keys = true;
    bool has_values = true;
    std::size_t entries_max = 0;
    char* to = nullptr;
    std::size_t bytes_max = 0;
    std::uint32_t* lengths = nullptr;
    std::optional<std::string> target;  // first move there
  };
  struct Answer {
    std::size_t entries = 0;
    bool is_at_end = false;
    std::size_t needed = 0;  // not 0: no entry fits, and the next one has so many bytes
  };
  Answer Read(const Request& request, Error* error);

  // The entry of a valid iterator.
  napi_value Key(napi_env env, bool is_text) const;
  napi_value Value(napi_env env, bool is_text) const;
  [[nodiscard]] std::uint64_t ValueSize() const;

 private:
  void Make();
  // Seeks the key again at which it is, because the transaction may have changed since.
  void Stay(bool is_reverse);

  std::shared_ptr<Database> database_;
  std::shared_ptr<Family> family_;
  std::shared_ptr<Snapshot> snapshot_;
  std::shared_ptr<Overlay> overlay_;  // whose writes it shows too; null: none
  const std::uint32_t flags_;
  const std::optional<std::string> lower_;
  const std::optional<std::string> upper_;
  cambium_iterator_t* iterator_ = nullptr;
  bool is_destroyed_ = false;
  bool is_busy_ = false;
  bool is_close_wanted_ = false;
  bool is_positioned_ = false;
  bool is_read_ = false;  // the entry at which it stands was handed out: Read moves first
};

}  // namespace cambium_node

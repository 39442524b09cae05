// A transaction, or a batch with an index: operations that are read before they are written.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>

#include "database.h"

namespace cambium_node {

class Iterator;

// One call at a time, those of its iterators included; a second one fails with Busy. Closing the database ends it.
class Overlay {
 public:
  static constexpr std::uint32_t kKind = 0x6f766572;
  // Takes over the transaction, or the batch; the other one is null.
  Overlay(std::shared_ptr<Database> database, cambium_transaction_t* transaction, cambium_writebatch_wi_t* batch);
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;
  ~Overlay();

  [[nodiscard]] const std::shared_ptr<Database>& database() const { return database_; }
  // Null: it is a batch, or has ended.
  [[nodiscard]] cambium_transaction_t* transaction() const { return transaction_; }
  [[nodiscard]] cambium_writebatch_wi_t* batch() const { return batch_; }
  [[nodiscard]] bool IsOpen() const { return !is_ended_ && !is_close_wanted_; }
  void CheckUsable() const;
  void Begin() { is_busy_ = true; }  // a call
  void End();
  // At once, or when the call that runs has ended.
  void Close();
  // The iterators over it end.
  void CloseIterators() noexcept;
  void Destroy() noexcept;

  std::unordered_set<Iterator*> iterators;

 private:
  std::shared_ptr<Database> database_;
  cambium_transaction_t* transaction_;
  cambium_writebatch_wi_t* batch_;
  const char* const what_;
  bool is_ended_ = false;
  bool is_busy_ = false;
  bool is_close_wanted_ = false;
};

// undefined: null. Throws if it belongs to another database.
std::shared_ptr<Overlay> OverlayAt(const Args& args, std::size_t i, const Database& database);

}  // namespace cambium_node

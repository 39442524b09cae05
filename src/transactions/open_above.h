// Opening a database together with a StackableDB above it.
#pragma once

#include <memory>
#include <utility>

#include "cambium/db.h"

namespace cambium {

// Opens a database by `opener(&below)`, and sets *db to a new Above, which owns it and is made from it and `arguments`.
// After an error *db is null.
template <typename Above, typename Base, typename Open, typename... Arguments>
Status OpenAbove(std::unique_ptr<Base>* db, Open opener, const Arguments&... arguments) {
  if (db == nullptr) return Status::InvalidArgument("Open: db is null");
  db->reset();
  std::unique_ptr<DB> below;
  if (Status opened = opener(&below); !opened.ok()) return opened;
  *db = std::make_unique<Above>(std::move(below), arguments...);
  return Status::OK();
}

// The form of an Open that gives the database by a plain pointer.
template <typename Base, typename Open>
Status OpenPlain(Base** db, Open opener) {
  if (db == nullptr) return Status::InvalidArgument("Open: db is null");
  std::unique_ptr<Base> made;
  Status opened = opener(&made);
  *db = made.release();
  return opened;
}

}  // namespace cambium

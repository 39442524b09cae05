// FullDisk: what the database knows of a disk without space, and the reserve that it keeps for it. The rules are in
// gc/reserve.h, who goes by them is in db_full_disk.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "cambium/file_system.h"

namespace cambium {

struct FullDisk {
  // The disk is full: the reserve has been given back, and only deletes are taken until it can be made again.
  std::atomic<bool> is_on{false};
  std::atomic<bool> is_ticking{false};       // a look at whether it still is, is scheduled
  std::atomic<bool> is_rescue_due{false};    // that look, or an opening, wants one
  std::atomic<bool> commit_failed{false};    // a MANIFEST record found no space, whatever its job has made of that
  std::atomic<std::uint64_t> reserve_bytes{0};
  std::atomic<std::uint64_t> wanted_bytes{0};  // of the reserve, as the database is now. 0: it is too small for one
  std::atomic<std::uint64_t> rescue_at{0};     // by logged_bytes_: when deletes wait for a rescue again

  std::atomic<std::uint64_t> look_at{0};  // by logged_bytes_: when a writer asks again what is free

  // Held while the file is made, made larger or smaller; taken with no other lock held; under it only Events'
  // and the logger's.
  std::mutex mutex;
  std::uint64_t number = 0;    // mutex; 0: there is no file
  std::unique_ptr<File> file;  // mutex
};

}  // namespace cambium

// Status: how an operation ended.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cambium/slice.h"

namespace cambium {

// OK, or a code with a message that names what it is about (a file and an offset, an option and its range). OK
// allocates nothing. A Status may be copied, and several threads may read it. [[nodiscard]], so that no error is lost.
class [[nodiscard]] Status {
 public:
  enum class Code : unsigned char {
    kOk = 0,
    kNotFound = 1,
    kCorruption = 2,       // bytes on disk are not what was written
    kNotSupported = 3,     // not available in this version or on this system; nothing was done
    kInvalidArgument = 4,  // the caller can correct this
    kIOError = 5,          // the system refused; see IsNoSpace(), IsLocked(), IsDenied()
    kIncomplete = 7,       // it would have to wait, and must not; or it ended early
    kShutdownInProgress = 8,
    kTimedOut = 9,
    kAborted = 10,  // failed because of an earlier failure
    kBusy = 11,  // nothing was done; the same call may succeed later
    kExpired = 12,   // a transaction's time has passed
    kTryAgain = 13,  // a transaction cannot find out whether it has a conflict; a new one may succeed
    kColumnFamilyDropped = 15,  // the handle's family was dropped
  };
  enum class SubCode : unsigned char {
    kNone = 0,
    kNoSpace = 1,       // with kIOError: disk or quota full
    kLocked = 2,        // with kIOError: another handle has the database open
    kPathNotFound = 3,  // with kIOError: no such file or directory
    // With kIOError: the system denied this process access, a file descriptor or memory. It says nothing about the
    // file: with more rights or resources, the same call may succeed.
    kDenied = 4,
    kLockTimeout = 5,  // with kTimedOut: a transaction has waited too long for the lock of a key
    kDeadlock = 6,     // with kBusy: transactions wait for each other
    kLockLimit = 7,    // with kBusy: too many keys are locked
    // With kAborted: memory ran out. Where a call from C returns this, one from C++ may throw std::bad_alloc.
    kOutOfMemory = 8
  };
  // kFatal: the database takes no writes until it is opened again. For example, a sync failed, or
  // memory ran out between the write of a MANIFEST record and the change in memory that it describes.
  enum class Severity : unsigned char { kNone = 0, kFatal = 1 };
  // So that Status::kBusy and Status::kDeadlock are names too, as in RocksDB.
  using enum Code;
  using enum SubCode;

  Status() = default;
  ~Status() = default;
  Status(const Status& other);
  Status& operator=(const Status& other);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;

  static Status OK() { return {}; }
  static Status NotFound(std::string_view message = {}) { return {Code::kNotFound, SubCode::kNone, message}; }
  static Status Corruption(std::string_view message) { return {Code::kCorruption, SubCode::kNone, message}; }
  static Status NotSupported(std::string_view message) { return {Code::kNotSupported, SubCode::kNone, message}; }
  static Status InvalidArgument(std::string_view message) { return {Code::kInvalidArgument, SubCode::kNone, message}; }
  static Status IOError(std::string_view message) { return {Code::kIOError, SubCode::kNone, message}; }
  static Status NoSpace(std::string_view message) { return {Code::kIOError, SubCode::kNoSpace, message}; }
  static Status Locked(std::string_view message) { return {Code::kIOError, SubCode::kLocked, message}; }
  static Status PathNotFound(std::string_view message) { return {Code::kIOError, SubCode::kPathNotFound, message}; }
  static Status Denied(std::string_view message) { return {Code::kIOError, SubCode::kDenied, message}; }
  static Status Incomplete(std::string_view message) { return {Code::kIncomplete, SubCode::kNone, message}; }
  static Status ShutdownInProgress(std::string_view m) { return {Code::kShutdownInProgress, SubCode::kNone, m}; }
  static Status TimedOut(std::string_view message) { return {Code::kTimedOut, SubCode::kNone, message}; }
  static Status Aborted(std::string_view message) { return {Code::kAborted, SubCode::kNone, message}; }
  static Status Busy(std::string_view message) { return {Code::kBusy, SubCode::kNone, message}; }
  static Status Expired(std::string_view message) { return {Code::kExpired, SubCode::kNone, message}; }
  static Status TryAgain(std::string_view message) { return {Code::kTryAgain, SubCode::kNone, message}; }
  static Status LockTimeout(std::string_view message) { return {Code::kTimedOut, SubCode::kLockTimeout, message}; }
  static Status Deadlock(std::string_view message) { return {Code::kBusy, SubCode::kDeadlock, message}; }
  static Status LockLimit(std::string_view message) { return {Code::kBusy, SubCode::kLockLimit, message}; }
  static Status OutOfMemory(std::string_view message = {}) { return {Code::kAborted, SubCode::kOutOfMemory, message}; }
  static Status ColumnFamilyDropped(std::string_view m) { return {Code::kColumnFamilyDropped, SubCode::kNone, m}; }

  // The same error, marked kFatal: the database must be opened again.
  [[nodiscard]] Status Fatal() const;
  // The same code with "context: " before the message. OK remains OK.
  [[nodiscard]] Status WithContext(std::string_view context) const;

  [[nodiscard]] bool ok() const { return rep_ == nullptr; }
  [[nodiscard]] Code code() const { return rep_ == nullptr ? Code::kOk : rep_->code; }
  [[nodiscard]] SubCode subcode() const { return rep_ == nullptr ? SubCode::kNone : rep_->subcode; }
  [[nodiscard]] Severity severity() const { return rep_ == nullptr ? Severity::kNone : rep_->severity; }
  [[nodiscard]] bool IsNotFound() const { return code() == Code::kNotFound; }
  [[nodiscard]] bool IsCorruption() const { return code() == Code::kCorruption; }
  [[nodiscard]] bool IsNotSupported() const { return code() == Code::kNotSupported; }
  [[nodiscard]] bool IsInvalidArgument() const { return code() == Code::kInvalidArgument; }
  [[nodiscard]] bool IsIOError() const { return code() == Code::kIOError; }
  [[nodiscard]] bool IsNoSpace() const { return IsIOError() && subcode() == SubCode::kNoSpace; }
  [[nodiscard]] bool IsLocked() const { return IsIOError() && subcode() == SubCode::kLocked; }
  [[nodiscard]] bool IsPathNotFound() const { return IsIOError() && subcode() == SubCode::kPathNotFound; }
  [[nodiscard]] bool IsDenied() const { return IsIOError() && subcode() == SubCode::kDenied; }
  [[nodiscard]] bool IsIncomplete() const { return code() == Code::kIncomplete; }
  [[nodiscard]] bool IsShutdownInProgress() const { return code() == Code::kShutdownInProgress; }
  [[nodiscard]] bool IsTimedOut() const { return code() == Code::kTimedOut; }
  [[nodiscard]] bool IsAborted() const { return code() == Code::kAborted; }
  [[nodiscard]] bool IsBusy() const { return code() == Code::kBusy; }
  [[nodiscard]] bool IsExpired() const { return code() == Code::kExpired; }
  [[nodiscard]] bool IsTryAgain() const { return code() == Code::kTryAgain; }
  [[nodiscard]] bool IsLockTimeout() const { return IsTimedOut() && subcode() == SubCode::kLockTimeout; }
  [[nodiscard]] bool IsDeadlock() const { return IsBusy() && subcode() == SubCode::kDeadlock; }
  [[nodiscard]] bool IsLockLimit() const { return IsBusy() && subcode() == SubCode::kLockLimit; }
  [[nodiscard]] bool IsOutOfMemory() const { return IsAborted() && subcode() == SubCode::kOutOfMemory; }
  [[nodiscard]] bool IsColumnFamilyDropped() const { return code() == Code::kColumnFamilyDropped; }

  // "OK", "Corruption: page checksum mismatch at 000007.idx:8192", "IO error (no space) (fatal until reopened): ...": the
  // code, with the subcode and kFatal in parentheses, and message().
  [[nodiscard]] std::string ToString() const;
  [[nodiscard]] std::string_view message() const { return rep_ == nullptr ? std::string_view() : rep_->message; }

  friend bool operator==(const Status& a, const Status& b) { return a.code() == b.code(); }

 private:
  struct Rep {
    Code code;
    SubCode subcode;
    Severity severity;
    std::string message;
  };
  Status(Code code, SubCode subcode, std::string_view message);

  std::unique_ptr<Rep> rep_;
};

}  // namespace cambium

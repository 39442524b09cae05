#include "io/sim/order_checker.h"

#include <algorithm>
#include <utility>

namespace cambium {

OrderChecker::OrderChecker(SimFileSystem* file_system) : file_system_(file_system) {
  hook_ = file_system_->AddHook([this](const SimOp& op) { See(op); });
}

OrderChecker::~OrderChecker() { file_system_->RemoveHook(hook_); }

void OrderChecker::Seal(const std::string& path, std::uint64_t length) {
  const SimInodeId inode = file_system_->probe().InodeOf(path);
  const MutexLock guard(mutex_);
  if (inode != 0) sealed_[inode] = std::max(sealed_[inode], length);
}

void OrderChecker::ForbidUnlink(std::function<bool(const std::string&)> is_needed) {
  const MutexLock guard(mutex_);
  is_needed_.push_back(std::move(is_needed));
}

void OrderChecker::AddRule(std::function<std::optional<std::string>(const SimOp&)> rule) {
  const MutexLock guard(mutex_);
  rules_.push_back(std::move(rule));
}

void OrderChecker::OnViolation(std::function<void(const std::string&)> callback) {
  const MutexLock guard(mutex_);
  callback_ = std::move(callback);
}

std::vector<std::string> OrderChecker::violations() const {
  const MutexLock guard(mutex_);
  return violations_;
}

void OrderChecker::Report(const SimOp& op, const std::string& what) {
  std::string message =
      "operation " + std::to_string(op.index) + ": " + SimOpName(op.kind) + " " + std::string(op.path);
  if (!op.to.empty()) message += " to " + std::string(op.to);
  if (op.kind == SimOpKind::kWrite) message += ":" + std::to_string(op.offset) + "+" + std::to_string(op.length);
  message += ": " + what;
  std::function<void(const std::string&)> callback;
  {
    const MutexLock guard(mutex_);
    violations_.push_back(message);
    callback = callback_;
  }
  if (callback) callback(message);
}

void OrderChecker::See(const SimOp& op) {
  if (op.phase == SimPhase::kBefore) return CheckBefore(op);
  if (op.phase != SimPhase::kAfter) return;
  const MutexLock guard(mutex_);
  if (op.kind == SimOpKind::kWrite) {
    std::erase_if(writing_, [&](const Range& range) { return range.operation == op.index; });
  } else if (op.kind == SimOpKind::kSync && !op.status->ok()) {
    sync_failed_.insert(op.inode);
  }
}

void OrderChecker::CheckBefore(const SimOp& op) {
  switch (op.kind) {
    case SimOpKind::kWrite:
    case SimOpKind::kTruncate:
    case SimOpKind::kAllocate:
    case SimOpKind::kPunchHole:
    case SimOpKind::kSync:
      CheckChange(op);
      break;
    case SimOpKind::kUnlink:
    case SimOpKind::kRename:
    case SimOpKind::kLink:
      CheckName(op);
      break;
    default:
      break;
  }
  std::vector<std::function<std::optional<std::string>(const SimOp&)>> rules;
  {
    const MutexLock guard(mutex_);
    rules = rules_;
  }
  for (const auto& rule : rules) {
    if (const std::optional<std::string> what = rule(op); what.has_value()) Report(op, *what);
  }
}

void OrderChecker::CheckChange(const SimOp& op) {
  std::vector<std::string> found;
  {
    const MutexLock guard(mutex_);
    if (sync_failed_.contains(op.inode)) found.emplace_back("its sync has failed before");
    if (op.kind != SimOpKind::kSync && op.link_count > 1) found.emplace_back("it has a second name");
    const auto seal = sealed_.find(op.inode);
    const bool keeps_bytes = op.kind == SimOpKind::kSync || op.kind == SimOpKind::kPunchHole;
    if (seal != sealed_.end() && !keeps_bytes && op.offset < seal->second) {
      found.emplace_back("below the sealed length " + std::to_string(seal->second));
    }
    if (op.kind == SimOpKind::kWrite) {
      const Range range = {op.index, op.inode, op.offset, op.offset + op.length};
      for (const Range& other : writing_) {
        if (other.inode == range.inode && other.begin < range.end && range.begin < other.end) {
          found.emplace_back("operation " + std::to_string(other.operation) + " is writing the same bytes");
        }
      }
      writing_.push_back(range);
    }
  }
  for (const std::string& what : found) Report(op, what);
}

void OrderChecker::CheckName(const SimOp& op) {
  const std::string path(op.path);
  if (op.kind == SimOpKind::kLink) {
    if (file_system_->probe().HasUnsyncedData(path)) Report(op, "a second name for unsynced data");
    return;
  }
  std::vector<std::function<bool(const std::string&)>> is_needed;
  {
    const MutexLock guard(mutex_);
    is_needed = is_needed_;
  }
  // A rename removes the old name, and the file that had the new name.
  for (const auto& needed : is_needed) {
    if (needed(path)) Report(op, "the file is still needed");
    if (op.kind == SimOpKind::kRename && needed(std::string(op.to))) Report(op, "the file it replaces is still needed");
  }
}

}  // namespace cambium

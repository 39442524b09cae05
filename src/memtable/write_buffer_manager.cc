#include "cambium/write_buffer_manager.h"

#include "memtable/write_budget.h"

namespace cambium {

WriteBufferManager::WriteBufferManager(std::size_t buffer_size, bool allow_stall)
    : budget_(std::make_shared<WriteBudget>(buffer_size, allow_stall)) {}
WriteBufferManager::~WriteBufferManager() = default;

std::size_t WriteBufferManager::memory_usage() const { return budget_->used(); }
std::size_t WriteBufferManager::mutable_memtable_memory_usage() const { return budget_->active(); }
std::size_t WriteBufferManager::buffer_size() const { return budget_->limit(); }
void WriteBufferManager::SetBufferSize(std::size_t new_size) { budget_->SetLimit(new_size); }
void WriteBufferManager::SetAllowStall(bool new_allow_stall) { budget_->SetAllowStall(new_allow_stall); }
bool WriteBufferManager::ShouldFlush() const { return budget_->ShouldFlush(); }
bool WriteBufferManager::ShouldStall() const { return budget_->ShouldStall(); }

}  // namespace cambium

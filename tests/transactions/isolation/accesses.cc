#include "transactions/isolation/accesses.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

namespace cambium::testing::isolation {
namespace {

bool IsPrefix(const std::vector<Version>& shorter, const std::vector<Version>& longer) {
  return shorter.size() <= longer.size() && std::equal(shorter.begin(), shorter.end(), longer.begin());
}

// A write of the history.
struct Write {
  std::uint32_t tx = 0;
  const std::string* key = nullptr;
  bool is_undone = false;
  bool is_final = false;  // the last one of its transaction that has written the key and was not undone
};

class AccessFinder {
 public:
  explicit AccessFinder(const History& history) : history_(history) {}

  Accesses Run() {
    IndexWrites();
    FindParts();
    for (std::uint32_t tx = 0; tx < history_.transactions.size(); ++tx) {
      if (!Walk(tx)) return std::move(found_);
    }
    for (auto& [key, accesses] : found_.keys) {
      if (!(lists_.contains(key) ? OrderList(key, &accesses) : OrderRegister(key, &accesses))) break;
    }
    return std::move(found_);
  }

 private:
  const TxRecord& Tx(std::uint32_t tx) const { return history_.transactions[tx]; }

  bool Report(std::string what, std::initializer_list<std::uint32_t> involved) {
    found_.anomaly = std::move(what);
    for (const std::uint32_t tx : involved) {
      if (Tx(tx).id != kNextLife) found_.anomaly += "\n  " + ToText(Tx(tx));
    }
    return false;
  }

  void IndexWrites() {
    for (std::uint32_t tx = 0; tx < history_.transactions.size(); ++tx) {
      std::map<std::string, Write*> last;
      for (const Op& op : Tx(tx).ops) {
        if (op.kind != Op::Kind::kWrite && op.kind != Op::Kind::kDelete) continue;
        Write& write = writes_[op.value.version.transaction][op.value.version.write];
        write = {tx, &op.key, op.is_undone, false};
        if (!op.is_undone) last[op.key] = &write;
        if (op.kind == Op::Kind::kDelete && !op.is_undone) deletes_[op.key].push_back(op.value.version);
      }
      for (const auto& [key, write] : last) write->is_final = true;
    }
  }

  // A transaction whose commit is unknown counts if anybody has read a version of it.
  void FindParts() {
    found_.parts.resize(history_.transactions.size(), Part::kNothing);
    for (std::uint32_t tx = 0; tx < history_.transactions.size(); ++tx) {
      if (Tx(tx).outcome == Outcome::kCommitted) {
        found_.parts[tx] = Part::kAll;
      } else if (Tx(tx).sees_snapshot) {
        found_.parts[tx] = Part::kReads;
      }
    }
    for (std::uint32_t tx = 0; tx < history_.transactions.size(); ++tx) {
      for (const Op& op : Tx(tx).ops) {
        if (op.kind != Op::Kind::kRead || op.value.version.transaction == Tx(tx).id) continue;
        if (op.value.list.empty()) NoteEvidence(op.value.version);
        for (const Version& each : op.value.list) NoteEvidence(each);
      }
    }
  }
  void NoteEvidence(Version version) {
    const Write* const write = FindWrite(version);
    if (write != nullptr && Tx(write->tx).outcome == Outcome::kUnknown) found_.parts[write->tx] = Part::kAll;
  }

  [[nodiscard]] const Write* FindWrite(Version version) const {
    const auto its = writes_.find(version.transaction);
    if (its == writes_.end()) return nullptr;
    const auto found = its->second.find(version.write);
    return found == its->second.end() ? nullptr : &found->second;
  }

  // What a transaction has seen and written so far.
  struct Seen {
    std::map<std::string, Value> values;  // a later read must find them again
    std::map<std::string, Value> undone;  // likewise, in a part that a rollback to a save point undoes
    std::map<std::string, Version> read;  // from others

    [[nodiscard]] const Value* Find(const Op& op) const {
      const auto in_part = undone.find(op.key);
      if (op.is_undone && in_part != undone.end()) return &in_part->second;
      const auto found = values.find(op.key);
      return found == values.end() ? nullptr : &found->second;
    }
    void Set(const Op& op, Value value) { (op.is_undone ? undone : values)[op.key] = std::move(value); }
  };

  // Goes through the operations of a transaction. False if an anomaly was found.
  bool Walk(std::uint32_t tx) {
    Seen seen;
    for (const Op& op : Tx(tx).ops) {
      switch (op.kind) {
        case Op::Kind::kUndo:
          seen.undone.clear();
          break;
        case Op::Kind::kWrite:
        case Op::Kind::kDelete:
          NoteList(tx, op);
          seen.Set(op, op.kind == Op::Kind::kDelete ? Value{} : op.value);
          if (!op.is_undone && found_.parts[tx] == Part::kAll) NoteWrite(tx, op, seen.read);
          break;
        case Op::Kind::kRead:
          if (!WalkRead(tx, op, &seen)) return false;
          break;
      }
    }
    return CheckLostUpdates();
  }

  bool WalkRead(std::uint32_t tx, const Op& op, Seen* seen) {
    if (const Value* const known = seen->Find(op); known != nullptr) {
      if (*known == op.value || found_.parts[tx] == Part::kNothing) return true;
      // What a transaction without a snapshot has read is compared at its commit, unless that was undone.
      const bool is_own = known->version.transaction == Tx(tx).id;
      if (op.is_undone && !Tx(tx).sees_snapshot && !is_own) return true;
      return Report("internal inconsistency: " + NameOf(Tx(tx)) + " has read " + ToText(op.value) + " at " + op.key +
                        ", and before written or read " + ToText(*known),
                    {tx});
    }
    if (!CheckRead(tx, op)) return false;
    seen->Set(op, op.value);
    if (op.is_undone || found_.parts[tx] == Part::kNothing) return true;
    NoteList(tx, op);
    if (const std::optional<Version> version = VersionOfRead(op); version.has_value()) {
      seen->read[op.key] = *version;
      found_.keys[op.key].readers[*version].push_back(tx);
    }
    return true;
  }

  void NoteWrite(std::uint32_t tx, const Op& op, const std::map<std::string, Version>& read) {
    const Write* const write = FindWrite(op.value.version);
    if (!write->is_final) return;
    KeyAccesses& accesses = found_.keys[op.key];
    accesses.writers[op.value.version] = tx;
    const auto before = read.find(op.key);
    if (before == read.end()) return;
    accesses.order.emplace_back(before->second, op.value.version);
    const auto [at, is_new] = made_from_[op.key].try_emplace(before->second, tx);
    if (!is_new && at->second != tx) lost_ = {op.key, at->second, tx};
  }

  bool CheckLostUpdates() {
    if (lost_.key.empty()) return true;
    return Report("lost update: two transactions have read the same version of " + lost_.key + ", and written it",
                  {lost_.first, lost_.second});
  }

  void NoteList(std::uint32_t tx, const Op& op) {
    if (op.value.list.empty() || op.is_undone || found_.parts[tx] == Part::kNothing) return;
    if (op.kind == Op::Kind::kWrite && found_.parts[tx] != Part::kAll) return;
    lists_[op.key].push_back({tx, &op.value.list});
  }

  // The version that the read shows. Nothing if it cannot be known.
  [[nodiscard]] std::optional<Version> VersionOfRead(const Op& op) const {
    if (op.value.version != kNoVersion) return op.value.version;
    const auto deletes = deletes_.find(op.key);
    if (deletes == deletes_.end()) return kNoVersion;
    std::optional<Version> only;
    for (const Version& each : deletes->second) {
      const Part part = found_.parts[FindWrite(each)->tx];
      const bool may_count = part == Part::kAll || Tx(FindWrite(each)->tx).outcome == Outcome::kUnknown;
      if (!may_count) continue;
      if (only.has_value() || part != Part::kAll) return std::nullopt;
      only = each;
    }
    const bool was_there = history_.base.values.contains(op.key);
    if (!only.has_value()) return kNoVersion;
    return was_there ? only : std::nullopt;
  }

  // Checks a read of what others have written.
  bool CheckRead(std::uint32_t tx, const Op& op) {
    const auto base = history_.base.values.find(op.key);
    const Value before = base == history_.base.values.end() ? Value{} : base->second;
    if (op.value == before) return true;
    if (op.value.version == kNoVersion) return CheckAbsent(tx, op);
    if (op.value.list.empty()) return CheckVersion(tx, op, op.value.version, /*is_last=*/true);
    if (!IsPrefix(before.list, op.value.list)) {
      return Report(
          "read of an old or unknown state: " + ToText(op) + ", but when the life began the list was " + ToText(before),
          {tx});
    }
    for (std::size_t i = before.list.size(); i < op.value.list.size(); ++i) {
      if (!CheckVersion(tx, op, op.value.list[i], i + 1 == op.value.list.size())) return false;
    }
    return true;
  }

  bool CheckAbsent(std::uint32_t tx, const Op& op) {
    const auto deletes = deletes_.find(op.key);
    if (deletes != deletes_.end()) {
      for (const Version& each : deletes->second) {
        const TxRecord& by = Tx(FindWrite(each)->tx);
        if (by.outcome == Outcome::kCommitted || by.outcome == Outcome::kUnknown) return true;
      }
    }
    return Report("read of nothing at " + op.key + ", which nobody has deleted", {tx});
  }

  bool CheckVersion(std::uint32_t tx, const Op& op, Version version, bool is_last) {
    const Write* const write = FindWrite(version);
    const std::string what = ": " + NameOf(Tx(tx)) + " has read " + ToText(version) + " at " + op.key;
    if (write == nullptr || *write->key != op.key) return Report("read of what nobody has written" + what, {tx});
    if (write->tx == tx) return Report("internal inconsistency" + what + " before it was written", {tx});
    if (write->is_undone) return Report("G1a, aborted read" + what + ", which a save point undid", {tx, write->tx});
    if (found_.parts[write->tx] != Part::kAll) return Report("G1a, aborted read" + what, {tx, write->tx});
    if (is_last && !write->is_final) return Report("G1b, intermediate read" + what, {tx, write->tx});
    return true;
  }

  bool OrderList(const std::string& key, KeyAccesses* accesses) {
    const std::vector<SeenList>& all = lists_[key];
    const SeenList& longest = *std::max_element(
        all.begin(), all.end(), [](const SeenList& a, const SeenList& b) { return a.list->size() < b.list->size(); });
    for (const SeenList& each : all) {
      if (IsPrefix(*each.list, *longest.list)) continue;
      return Report("lists that contradict each other at " + key, {each.tx, longest.tx});
    }
    // Intermediate versions are left out: others have not read them.
    const auto base = history_.base.values.find(key);
    Version before = base == history_.base.values.end() ? kNoVersion : base->second.version;
    const std::size_t known = base == history_.base.values.end() ? 0 : base->second.list.size();
    accesses->order.clear();
    for (std::size_t i = known; i < longest.list->size(); ++i) {
      const Version next = (*longest.list)[i];
      if (!accesses->writers.contains(next)) continue;
      accesses->order.emplace_back(before, next);
      before = next;
    }
    return true;
  }

  bool OrderRegister(const std::string& key, KeyAccesses* accesses) {
    const auto base = history_.base.values.find(key);
    const Version first = base == history_.base.values.end() ? kNoVersion : base->second.version;
    std::set<Version> placed;
    for (const auto& [before, after] : accesses->order) placed.insert(after);
    for (const auto& [version, tx] : accesses->writers) {
      if (!placed.contains(version)) accesses->order.emplace_back(first, version);
    }
    return true;
  }

  struct SeenList {
    std::uint32_t tx;
    const std::vector<Version>* list;
  };
  struct Lost {
    std::string key;
    std::uint32_t first = 0;
    std::uint32_t second = 0;
  };

  const History& history_;
  Accesses found_;
  std::unordered_map<std::uint64_t, std::map<std::uint32_t, Write>> writes_;  // by transaction and write
  std::map<std::string, std::vector<Version>> deletes_;
  std::map<std::string, std::vector<SeenList>> lists_;
  std::map<std::string, std::map<Version, std::uint32_t>> made_from_;
  Lost lost_;
};

}  // namespace

Accesses FindAccesses(const History& history) { return AccessFinder(history).Run(); }

}  // namespace cambium::testing::isolation

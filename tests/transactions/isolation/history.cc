#include "transactions/isolation/history.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

namespace cambium::testing::isolation {
namespace {

std::string TimeText(Time time) { return time == kNever ? "-" : std::to_string(time); }

bool ParseTime(const std::string& text, Time* time) {
  *time = kNever;
  if (text == "-") return true;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *time);
  return error == std::errc() && end == text.data() + text.size();
}

bool ParseVersion(std::string_view text, Version* version) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return false;
  const auto first = std::from_chars(text.data(), text.data() + dot, version->transaction);
  const auto second = std::from_chars(text.data() + dot + 1, text.data() + text.size(), version->write);
  return first.ec == std::errc() && first.ptr == text.data() + dot && second.ec == std::errc() &&
         second.ptr == text.data() + text.size() && version->transaction != 0;
}

bool ParseOps(std::istringstream* in, std::vector<Op>* ops) {
  for (std::string word; *in >> word;) {
    Op op;
    if (word == "u") {
      op.kind = Op::Kind::kUndo;
      ops->push_back(std::move(op));
      continue;
    }
    op.is_undone = word.size() == 2 && word[1] == '!';
    if (word.size() != (op.is_undone ? 2u : 1u)) return false;
    if (word[0] == 'w')
      op.kind = Op::Kind::kWrite;
    else if (word[0] == 'd')
      op.kind = Op::Kind::kDelete;
    else if (word[0] != 'r')
      return false;
    std::string value;
    if (!(*in >> op.key >> value) || !ParseValue(value, &op.value)) return false;
    ops->push_back(std::move(op));
  }
  return true;
}

// Parses what follows "tx".
bool ParseTx(std::istringstream* in, TxRecord* tx) {
  std::string thread, level, sees, call, begin, returned, end, sync, commit, at, colon;
  if (!(*in >> tx->id >> thread >> tx->thread >> level >> sees >> call >> begin >> returned >> end >> sync >> commit >>
        at >> colon)) {
    return false;
  }
  tx->level = level == "snapshot" ? Level::kSnapshot : Level::kSerializable;
  tx->sees_snapshot = sees == "sees";
  tx->is_synced = sync == "sync";
  if (!ParseTime(begin, &tx->begin_call) || !ParseTime(end, &tx->begin_return) || !ParseTime(at, &tx->commit_call)) {
    return false;
  }
  if (tx->commit_call != kNever) tx->outcome = Outcome::kUnknown;
  return colon == ":" && ParseOps(in, &tx->ops);
}

TxRecord* FindTx(History* history, std::uint64_t id) {
  // Mostly the newest one.
  const auto found = std::find_if(history->transactions.rbegin(), history->transactions.rend(),
                                  [id](const TxRecord& each) { return each.id == id; });
  return found == history->transactions.rend() ? nullptr : &*found;
}

// Applies a line about a transaction that was written down before.
bool ApplyLine(const std::string& kind, std::istringstream* in, TxRecord* tx) {
  if (kind == "prepare") {
    std::string call, time, sync;
    if (!(*in >> call >> time >> sync) || !ParseTime(time, &tx->prepare_call)) return false;
    tx->is_prepare_synced = sync == "sync";
    tx->outcome = Outcome::kPrepared;
    return true;
  }
  Time time = 0;
  if (!(*in >> time)) return false;
  if (kind == "prepared") {
    tx->prepare_return = time;
  } else if (kind == "commit") {
    tx->commit_call = time;
    tx->outcome = Outcome::kUnknown;
  } else if (kind == "rollback") {
    tx->rollback_call = time;
  } else if (kind == "committed") {
    tx->commit_return = time;
    tx->outcome = Outcome::kCommitted;
  } else if (kind == "aborted") {
    tx->commit_return = time;
    tx->outcome = Outcome::kAborted;
  } else if (kind == "unknown") {
    // As it was before the call: unknown after a commit, prepared after a rollback.
  } else {
    return false;
  }
  return true;
}

bool ParseLine(const std::string& line, History* history) {
  std::istringstream in(line);
  std::string kind;
  in >> kind;
  if (kind == "tx") {
    TxRecord tx;
    if (!ParseTx(&in, &tx)) return false;
    history->transactions.push_back(std::move(tx));
    return true;
  }
  if (kind == "synced") {
    SyncCall sync;
    if (!(in >> sync.call >> sync.called_back)) return false;
    history->syncs.push_back(sync);
    return true;
  }
  std::uint64_t id = 0;
  if (!(in >> id)) return false;
  TxRecord* const tx = FindTx(history, id);
  return tx != nullptr && ApplyLine(kind, &in, tx);
}

}  // namespace

Value ListOf(std::vector<Version> list) {
  Value value;
  if (!list.empty()) value.version = list.back();
  value.list = std::move(list);
  return value;
}

std::string NameOf(const TxRecord& record) {
  return record.id == kNextLife ? "the next life" : "transaction " + std::to_string(record.id);
}

std::string ToText(Version version) {
  return version == kNoVersion ? "-" : std::to_string(version.transaction) + "." + std::to_string(version.write);
}

std::string ToText(const Value& value) {
  if (value.list.empty()) return ToText(value.version);
  std::string text = "[";
  for (const Version& each : value.list) text += (text.size() == 1 ? "" : ",") + ToText(each);
  return text + "]";
}

std::string ToText(const Op& op) {
  if (op.kind == Op::Kind::kUndo) return "u";
  std::string text = op.kind == Op::Kind::kRead ? "r" : op.kind == Op::Kind::kWrite ? "w" : "d";
  if (op.is_undone) text += "!";
  return text + " " + op.key + " " + ToText(op.value);
}

std::string ToText(const TxRecord& record) {
  std::string text = "tx " + std::to_string(record.id) + " thread " + std::to_string(record.thread) +
                     (record.level == Level::kSnapshot ? " snapshot " : " serializable ") +
                     (record.sees_snapshot ? "sees" : "-") + " call " + TimeText(record.begin_call) + " return " +
                     TimeText(record.begin_return) + (record.is_synced ? " sync" : " -") + " commit " +
                     TimeText(record.commit_call) + " :";
  for (const Op& op : record.ops) text += " " + ToText(op);
  return text;
}

bool ParseValue(const std::string& text, Value* value) {
  *value = {};
  if (text == "-") return true;
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return ParseVersion(text, &value->version);
  const std::string_view inside = std::string_view(text).substr(1, text.size() - 2);
  for (std::size_t at = 0; at <= inside.size();) {
    const std::size_t comma = std::min(inside.find(',', at), inside.size());
    Version version;
    if (!ParseVersion(inside.substr(at, comma - at), &version)) return false;
    value->list.push_back(version);
    at = comma + 1;
  }
  value->version = value->list.back();
  return true;
}

std::string ParseLines(const std::string& lines, History* history) {
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    if (end == std::string::npos) break;
    const std::string line = lines.substr(at, end - at);
    if (!ParseLine(line, history)) return line;
    at = end + 1;
  }
  return "";
}

}  // namespace cambium::testing::isolation

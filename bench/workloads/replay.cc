// Workloads that load and replay a trace.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "trace/expected.h"
#include "trace/feed.h"
#include "trace/format.h"
#include "trace/values.h"
#include "util/histogram.h"
#include "util/result.h"
#include "workloads/workload.h"

namespace cambium::bench {
namespace {

constexpr std::size_t kLoadBatch = 1000;
constexpr std::uint64_t kSleepNanosMax = 50'000'000;  // Ctrl-C may wait this long

// Latencies and answers of the operations of one kind.
struct KindFigures {
  std::uint64_t ops = 0;  // keys, or scans
  std::uint64_t found = 0;
  std::uint64_t found_then = 0;  // when the trace was recorded
  Histogram nanos;               // per call
};
struct ReplayFigures {
  std::array<KindFigures, kTracedKinds.size()> kinds;
  std::uint64_t moves = 0;
  std::uint64_t moves_then = 0;
  std::uint64_t skipped = 0;      // range deletes
  std::uint64_t broken_up = 0;    // batches with puts and deletes, which no Session takes as a whole
  std::uint64_t late_nanos = 0;   // the longest delay of a call
};

struct ReplayState : SharedState {
  explicit ReplayState(const std::string& path) : feed(path) {}
  mutable TraceFeed feed;
  bool values_are_ours = false;  // only traceload and replay have written to the database
  // The answers that the lookups and scans of the trace must give, in order. Null if they are unknown, because calls
  // overtake each other.
  std::unique_ptr<const ExpectedAnswers> expected;
  mutable std::atomic<std::uint64_t> begun_nanos{0};
  mutable std::mutex mutex;
  mutable ReplayFigures figures;  // guarded by mutex
};

// Returns whether only traceload and replay have written to the database before this phase.
bool OnlyTraces(const Phase& phase) {
  const std::vector<std::string>& names = phase.flags.benchmarks;
  if (phase.flags.use_existing_db || names.empty() || names.front() != "traceload") return false;
  return std::all_of(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(phase.ordinal, names.size())),
                     [](const std::string& name) {
                       return name == "traceload" || name == "replay" ||
                              FindWorkload(name)->effect == Effect::kMaintains;
                     });
}

// Returns the answers that the coming replay must give. Finds them by making all changes in a map in memory: first
// those of the workloads before this one in --benchmarks, then those of the replay.
std::unique_ptr<const ExpectedAnswers> ExpectAnswers(const Phase& phase) {
  const std::vector<std::string>& names = phase.flags.benchmarks;
  TracedContents contents;
  for (std::size_t i = 0; i < std::min<std::size_t>(phase.ordinal, names.size()); ++i) {
    if (names[i] == "traceload") contents = ContentsBefore(phase.flags.trace.file);
    if (names[i] == "replay") static_cast<void>(AnswersOf(phase.flags.trace.file, &contents));
  }
  return std::make_unique<const ExpectedAnswers>(AnswersOf(phase.flags.trace.file, &contents));
}

// A Player is one thread of a replay.
class Player {
 public:
  explicit Player(Worker* w)
      : w_(*w),
        state_(static_cast<const ReplayState&>(*w->phase.state)),
        values_(w->phase.pool.bytes(), w->phase.flags.seed),
        speed_(w->phase.flags.trace.replay_fast_forward) {}

  void Run() {
    w_.meter.Begin();
    std::uint64_t unset = 0;
    state_.begun_nanos.compare_exchange_strong(unset, NowNanos());
    TracedCallOps call;
    while (w_.meter.More() && w_.status.ok()) {
      const Status next = state_.feed.Next(&call);
      if (next.IsIncomplete()) break;
      if (!next.ok()) {
        w_.status = next;
        break;
      }
      if (speed_ > 0 && !WaitFor(call.front().micros)) break;
      const std::uint64_t begin = NowNanos();
      const std::uint64_t bytes = Do(call);
      KindFigures& figures = Of(call.front());
      figures.nanos.Add(NowNanos() - begin);
      w_.meter.Finish(call.size(), bytes);
    }
    const std::lock_guard lock(state_.mutex);
    for (std::size_t i = 0; i < figures_.kinds.size(); ++i) {
      KindFigures& all = state_.figures.kinds[i];
      all.ops += figures_.kinds[i].ops;
      all.found += figures_.kinds[i].found;
      all.found_then += figures_.kinds[i].found_then;
      all.nanos.Merge(figures_.kinds[i].nanos);
    }
    state_.figures.moves += figures_.moves;
    state_.figures.moves_then += figures_.moves_then;
    state_.figures.skipped += figures_.skipped;
    state_.figures.broken_up += figures_.broken_up;
    state_.figures.late_nanos = std::max(state_.figures.late_nanos, figures_.late_nanos);
  }

 private:
  KindFigures& Of(const TracedOp& op) { return figures_.kinds[static_cast<std::size_t>(op.kind)]; }

  // Waits until a call is due. Returns false if the run was stopped meanwhile. A late call does not wait.
  bool WaitFor(std::uint64_t micros) {
    const auto after = static_cast<std::uint64_t>(static_cast<double>(micros) * 1000 / speed_);
    const std::uint64_t due = state_.begun_nanos.load() + after;
    std::uint64_t now = NowNanos();
    if (now >= due) {
      figures_.late_nanos = std::max(figures_.late_nanos, now - due);
    } else {
      for (; now < due && w_.meter.More(); now = NowNanos()) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(due - now, kSleepNanosMax)));
      }
      w_.meter.Resume();  // the wait is not part of the latency
    }
    return w_.meter.More();
  }

  std::uint64_t Do(const TracedCallOps& call) {
    for (const TracedOp& op : call) ++Of(op).ops;
    const TracedOp& first = call.front();
    if (first.kind == TracedKind::kMultiGet) return LookUpTogether(call);
    if (first.kind == TracedKind::kGet) return LookUp(first);
    if (first.IsScan()) return Scan(first);
    const std::uint64_t bytes = Write(call);
    w_.written_bytes += bytes;
    return bytes;
  }

  std::uint64_t TakeAnswer(const TracedOp& op, Slice key, Lookup lookup, Slice value) {
    ++w_.reads;
    KindFigures& figures = Of(op);
    if (op.value_size.has_value()) ++figures.found_then;
    if (lookup != Lookup::kError) {
      const bool found = lookup == Lookup::kFound;
      CheckAnswer(AnswerOfLookup(found ? std::optional<std::uint64_t>(value.size()) : std::nullopt), "a lookup", key);
    }
    if (lookup != Lookup::kFound) return 0;
    ++w_.found;
    ++figures.found;
    Check(key, value);
    return key.size() + value.size();
  }
  // Compares an answer with the next one in the order of the trace.
  void CheckAnswer(std::uint64_t answer, const char* what, Slice key) {
    if (state_.expected == nullptr || !w_.status.ok()) return;
    const bool is_right = answers_ < state_.expected->size() && answer == (*state_.expected)[answers_];
    ++answers_;
    if (is_right) return;
    w_.status = Status::Corruption(std::string(what) + " of key " + key.ToString(true) +
                                   " did not find what was there: a key is lost, was deleted, or has an old value");
  }
  void Check(Slice key, Slice value) {
    if (!state_.values_are_ours || values_.Matches(key, value)) return;
    w_.status = Status::Corruption("a value of " + std::to_string(value.size()) + " bytes of key " +
                                   Slice(key).ToString(true) + " is not what was written");
  }

  std::uint64_t LookUp(const TracedOp& op) {
    const std::string key = ReplayKey(op.family, op.key);
    Slice value;
    const Lookup lookup = w_.session.Get(key, &value);
    if (lookup == Lookup::kError) w_.status = w_.session.error();
    return TakeAnswer(op, key, lookup, value);
  }

  std::uint64_t LookUpTogether(const TracedCallOps& call) {
    std::vector<std::string> bytes;
    for (const TracedOp& op : call) bytes.push_back(ReplayKey(op.family, op.key));
    const std::vector<Slice> keys(bytes.begin(), bytes.end());
    std::vector<Slice> values(call.size());
    std::vector<Lookup> lookups(call.size());
    w_.session.MultiGet(keys, values, lookups);
    if (std::count(lookups.begin(), lookups.end(), Lookup::kError) != 0) w_.status = w_.session.error();
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < call.size(); ++i) sum += TakeAnswer(call[i], keys[i], lookups[i], values[i]);
    return sum;
  }

  std::uint64_t Scan(const TracedOp& op) {
    const std::unique_ptr<Cursor> cursor = w_.session.NewCursor(Fetch::kEntries);
    const std::string key = ReplayKey(op.family, op.key);
    const bool backward = op.kind == TracedKind::kSeekForPrev || op.kind == TracedKind::kSeekToLast;
    bool valid = false;
    switch (op.kind) {
      case TracedKind::kSeek: valid = cursor->Seek(key); break;
      case TracedKind::kSeekForPrev:  // Cursor has only Seek
        valid = cursor->Seek(key);
        if (!valid && cursor->status().ok()) {
          valid = cursor->SeekToLast();
        } else if (valid && cursor->key() != Slice(key)) {
          valid = cursor->Prev();
        }
        break;
      case TracedKind::kSeekToLast: valid = cursor->SeekToLast(); break;
      default: valid = cursor->SeekToFirst(); break;
    }
    std::uint64_t bytes = 0;
    const std::uint64_t moves = op.scan_length.value_or(0);
    figures_.moves_then += moves;
    if (valid) ++Of(op).found;
    AnswerOfScan answer;
    for (std::uint64_t i = 0; valid; ++i) {
      const Slice value = cursor->value();
      bytes += cursor->key().size() + value.size();
      answer.Pass(cursor->key(), value.size());
      if (w_.status.ok() && cursor->status().ok()) Check(cursor->key(), value);
      if (i == moves || !w_.status.ok()) break;
      valid = backward ? cursor->Prev() : cursor->Next();
      ++figures_.moves;
    }
    if (w_.status.ok()) w_.status = cursor->status();
    CheckAnswer(answer.value(), "a scan", key);
    return bytes;
  }

  std::uint64_t Write(const TracedCallOps& call) {
    std::uint64_t bytes = 0;
    std::size_t batched = 0;
    const bool alone = call.size() == 1;
    const auto is_put = [](const TracedOp& op) { return op.kind == TracedKind::kPut; };
    if (!alone && !std::all_of(call.begin(), call.end(), is_put)) ++figures_.broken_up;
    for (const TracedOp& op : call) {
      if (!w_.status.ok()) return bytes;
      const std::string key = ReplayKey(op.family, op.key);
      if (op.kind == TracedKind::kDeleteRange) {
        ++figures_.skipped;
        continue;
      }
      if (is_put(op)) {
        const Slice value = values_.Make(key, *op.value_size);
        w_.status = alone ? w_.session.Put(key, value) : w_.session.BatchPut(key, value);
        bytes += key.size() + value.size();
        batched += alone ? 0 : 1;
        continue;
      }
      if (std::exchange(batched, 0) > 0) w_.status = w_.session.CommitBatch();
      if (w_.status.ok()) w_.status = w_.session.Delete(key);
      bytes += key.size();
    }
    if (batched > 0 && w_.status.ok()) w_.status = w_.session.CommitBatch();
    return bytes;
  }

  Worker& w_;
  const ReplayState& state_;
  ReplayValues values_;
  const double speed_;
  ReplayFigures figures_;
  std::size_t answers_ = 0;  // checked so far
};

struct LoadState : SharedState {
  TracedContents contents;
  Status status;
};

}  // namespace

std::string ComplainOfTrace(const BenchFlags& flags) {
  if (flags.trace.file.empty()) return "needs --trace_file";
  std::unique_ptr<TraceSource> source;
  if (const Status opened = OpenTrace(flags.trace.file, &source); !opened.ok()) return opened.ToString();
  // A replay writes values of its own, which other workloads would report as wrong.
  bool is_replayed = false;
  for (const std::string& name : flags.benchmarks) {
    const bool is_trace = name == "replay" || name == "traceload";
    const Workload* const workload = FindWorkload(name);
    if (workload == nullptr) continue;
    if (workload->fresh) is_replayed = false;
    if (is_replayed && !is_trace && workload->run != nullptr) {
      return "a replay writes values of its own: " + name + " cannot follow it";
    }
    is_replayed = is_replayed || is_trace;
  }
  return {};
}

// A recorded database must stay open until the end, because a trace is one file.
std::string ComplainOfRecording(const BenchFlags& flags) {
  if (!flags.trace.record) return {};
  if (flags.trace.file.empty()) return "--record_trace needs --trace_file";
  if (std::filesystem::exists(flags.trace.file)) return "the file " + flags.trace.file + " exists already";
  const std::filesystem::path parent = std::filesystem::absolute(flags.trace.file).parent_path();
  if (!std::filesystem::is_directory(parent)) return "--trace_file: there is no directory " + parent.string();
  if (flags.engines != std::vector<std::string>{"cambium"}) return "--record_trace is for the engine cambium only";
  if (flags.index == "both") return "--record_trace takes one --index";
  if (flags.rounds > 1) return "--record_trace takes one round";
  if (flags.drop_caches || flags.memory_limit > 0) {
    return "--drop_caches and --memory_limit reopen the database, which ends a trace";
  }
  for (std::size_t i = 0; i < flags.benchmarks.size(); ++i) {
    const std::string& name = flags.benchmarks[i];
    const Workload* const workload = FindWorkload(name);
    const bool reopens = name == "verify" || (i > 0 && workload->fresh && !flags.use_existing_db);
    if (reopens) return "with --record_trace, " + name + " would reopen the database, which ends a trace";
  }
  return {};
}

unsigned ThreadsOfReplay(const BenchFlags& flags) { return flags.trace.replay_threads; }
unsigned OneThread(const BenchFlags&) { return 1; }

std::shared_ptr<const SharedState> PrepareTraceLoad(const Phase& phase) {
  auto state = std::make_shared<LoadState>();
  state->contents = ContentsBefore(phase.flags.trace.file, &state->status);
  return state;
}

void LoadForTrace(Worker* w) {
  const auto& state = static_cast<const LoadState&>(*w->phase.state);
  ReplayValues values(w->phase.pool.bytes(), w->phase.flags.seed);
  w->phase.keys.Reset(false);  // these keys have no ids
  w->status = state.status;
  w->meter.Begin();
  std::size_t batched = 0;
  std::uint64_t bytes = 0;
  for (auto it = state.contents.begin(); it != state.contents.end() && w->status.ok() && w->meter.More(); ++it) {
    const Slice value = values.Make(it->first, it->second);
    w->status = w->session.BatchPut(it->first, value);
    bytes += it->first.size() + value.size();
    if (++batched < kLoadBatch && std::next(it) != state.contents.end()) continue;
    if (w->status.ok()) w->status = w->session.CommitBatch();
    w->written_bytes += bytes;
    w->meter.Finish(std::exchange(batched, 0), std::exchange(bytes, 0));
  }
}

std::shared_ptr<const SharedState> PrepareReplay(const Phase& phase) {
  auto state = std::make_shared<ReplayState>(phase.flags.trace.file);
  state->values_are_ours = OnlyTraces(phase);
  if (state->values_are_ours && ThreadsOfReplay(phase.flags) == 1) state->expected = ExpectAnswers(phase);
  phase.keys.Reset(false);
  return state;
}

void Replay(Worker* w) { Player(w).Run(); }

// Returns "get 80, p50 3.1 ... us; ...": figures by kind, and where the replay differs from the recording.
std::string TellOfReplay(const SharedState& shared) {
  const auto& state = static_cast<const ReplayState&>(shared);
  const TraceFacts facts = state.feed.facts();
  const std::lock_guard lock(state.mutex);
  const ReplayFigures& figures = state.figures;
  std::string text;
  const auto add = [&text](const std::string& piece) { text += (text.empty() ? "" : "; ") + piece; };
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  const auto micros = [](const KindFigures& kind, double percent) {
    return static_cast<double>(kind.nanos.Percentile(percent)) * 1e-3;
  };
  for (std::size_t i = 0; i < figures.kinds.size(); ++i) {
    const KindFigures& kind = figures.kinds[i];
    if (kind.ops == 0) continue;
    add(std::string(kTracedKinds[i]) + Format(" %llu", number(kind.ops)));
    if (kind.nanos.count() > 0) {  // a mixed batch counts as a call of its first operation's kind
      text += Format(", p50 %.1f p75 %.1f p99 %.1f p99.9 %.1f p99.99 %.1f max %.1f us", micros(kind, 50),
                     micros(kind, 75), micros(kind, 99), micros(kind, 99.9), micros(kind, 99.99), micros(kind, 100));
    }
    const bool is_lookup = i <= static_cast<std::size_t>(TracedKind::kMultiGet);
    if (is_lookup) add(Format("of these found %llu, %llu in the trace", number(kind.found), number(kind.found_then)));
  }
  if (figures.moves_then > 0) {
    add(Format("scans moved %llu, %llu in the trace", number(figures.moves), number(figures.moves_then)));
  }
  if (facts.open_scans > 0) add(Format("%llu scans without a length did not move", number(facts.open_scans)));
  if (figures.skipped > 0) add(Format("%llu range deletes left out", number(figures.skipped)));
  if (figures.broken_up > 0) add(Format("%llu batches with deletes split", number(figures.broken_up)));
  if (!facts.is_whole) add(Format("the trace is truncated at offset %llu", number(facts.end_offset)));
  if (figures.late_nanos > 0) {
    add(Format("at most %.3f ms late", static_cast<double>(figures.late_nanos) * 1e-6));
  }
  if (!state.values_are_ours) {
    add("values not compared, nor whether keys are found");
  } else if (state.expected == nullptr) {
    add("whether keys are found, and lengths, not compared: calls overtake each other");
  }
  return text;
}

}  // namespace cambium::bench

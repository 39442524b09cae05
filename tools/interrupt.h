// Interrupts: Ctrl-C as an error of the command, so that it removes what it has begun.
#pragma once

#include <string>

#include "cambium/status.h"

namespace cambium::tool {

// Thrown where a command that was interrupted ends. The program then says so, and dies by the same signal.
struct Interrupted {
  std::string left;  // what the command did with its result
};

// While an Interrupts exists, SIGINT, SIGTERM and SIGHUP only set a flag, which loops and callbacks look at. If a
// signal comes a second time, it ends the program at once, as every signal does without an Interrupts. SIGPIPE is
// ignored: a reader of the output that goes away does not end the work.
//
// A command that leaves no unfinished files when it is killed needs no Interrupts.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  [[nodiscard]] static bool HasCome();
  // For callbacks of the library: throws Interrupted once a signal has come. The call unwinds as after std::bad_alloc.
  static void ThrowIfCome();
  // For the end of the work: if a signal has come and the work has failed, throws Interrupted with `left`.
  static void ThrowIfEnded(const Status& done, const std::string& left);
  // Ends the program by the signal that has come.
  [[noreturn]] static void Die();
};

}  // namespace cambium::tool

#include "copy_plan.h"

#include <string>

#include "key_text.h"

namespace cambium::tool {
namespace {

void AppendLine(const char* verb, std::uint64_t files, std::uint64_t bytes, std::string* text) {
  if (files == 0) return;
  *text +=
      std::string(verb) + std::to_string(files) + (files == 1 ? " file, " : " files, ") + Bytes(bytes) + " bytes\n";
}

}  // namespace

std::string LinesOf(const CopyPlan& plan) {
  std::string text;
  AppendLine("would link ", plan.linked_files, plan.linked_bytes, &text);
  AppendLine("would write ", plan.copied_files, plan.copied_bytes, &text);
  AppendLine("would share with earlier backups ", plan.shared_files, plan.shared_bytes, &text);
  return text + Bytes(plan.free_bytes) + " bytes are free there\n";
}

nlohmann::ordered_json JsonOf(const CopyPlan& plan) {
  return {{"dry_run", true},
          {"linked_files", plan.linked_files},
          {"linked_bytes", plan.linked_bytes},
          {"copied_files", plan.copied_files},
          {"copied_bytes", plan.copied_bytes},
          {"shared_files", plan.shared_files},
          {"shared_bytes", plan.shared_bytes},
          {"free_bytes", plan.free_bytes}};
}

ExitCode SayPlan(const Status& status, const CopyPlan& plan, bool json) {
  if (!status.ok()) return Fail(status, json);
  return json ? Say(JsonOf(plan)) : Say(LinesOf(plan));
}

}  // namespace cambium::tool

// `culprit scan init`: a first setup file for a kernel.

#include <fmt/format.h>

#include "base/file.h"
#include "base/program_files.h"
#include "base/text.h"
#include "cli/run_program.h"
#include "cli/scan_actions.h"
#include "cli/scan_output.h"
#include "cli/terminal.h"
#include "scan/first_plan.h"

namespace culprit {
namespace {

/// "clang++-19", the newest that is here; "clang++" without a version; "": none.
std::string find_newest(const std::string& clang) {
  constexpr int kNewest = 40;
  constexpr int kOldest = 6;
  if (clang.empty()) return "";
  for (int version = kNewest; version >= kOldest; --version) {
    const std::string name = fmt::format("{}-{}", clang, version);
    if (!check_program(name)) return name;
  }
  return check_program(clang) ? "" : clang;
}

}  // namespace

int run_scan_init(const ScanCommand& command) {
  if (!file_exists(command.source)) {
    return fail(Error{fmt::format("there is no file '{}'", printable(command.source))});
  }
  const std::string clang = find_newest(scan::find_clang_of(command.source));
  const Result<std::string> source = read_file(command.source, uint64_t{64} << 20);
  if (!source) return fail(source.error());
  const Result<std::string> plan = scan::make_first_plan(command.source, *source, clang);
  if (!plan) return fail(plan.error());
  const Result<void> written = write_whole_file(command.plan, *plan, false);
  if (!written) return fail(written.error());
  print_message(fmt::format("a first setup file -> {}: edit it, then: {}", printable(command.plan),
                            with_plan("culprit scan run", command)));
  return 0;
}

}  // namespace culprit

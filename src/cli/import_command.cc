// `culprit import`: a recording of perf becomes a profile, complete with symbols.

#include <fmt/format.h>
#include <optional>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output_file.h"
#include "cli/symbolizing.h"
#include "cli/terminal.h"
#include "perfdata/import.h"
#include "store/profile_file.h"

namespace culprit {

namespace {

void show_progress(ProgressLine& line, uint64_t done_bytes, uint64_t total_bytes) {
  line.show(total_bytes == 0
                ? fmt::format("reading, {} done", format_bytes(done_bytes))
                : fmt::format("reading {} of {}", format_bytes(done_bytes),
                              format_bytes(total_bytes)));
}

/// Reads the file into the profile at `command.output`; an error leaves the caller to clean up.
Result<Imported> read_into_profile(const ImportCommand& command) {
  const InterruptGuard guard;
  ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::create(command.output));
  ProgressLine line;
  ASSIGN_OR_RETURN(Imported imported,
                   import_perf_data(
                       command.import, [&](const Profile& profile) { return writer.flush(profile); },
                       [&](uint64_t done_bytes, uint64_t total_bytes) {
                         if (!command.quiet) show_progress(line, done_bytes, total_bytes);
                         return !guard.is_interrupted();
                       }));
  line.clear();
  if (imported.is_stopped) {
    imported.profile.ledger.note("the import was interrupted: what it had read by then is here");
  }
  // What the recording itself knows comes first: symbols are looked for where it knows less.
  for (const auto& [image, facts] : imported.facts) {
    RETURN_IF_ERROR(writer.write_facts(image, facts));
  }
  RETURN_IF_ERROR(writer.close(imported.profile));
  return imported;
}

}  // namespace

int run_import(const ImportCommand& command) {
  survive_file_size_limit();
  const Result<OutputFile> output = OutputFile::claim(command.output);
  if (!output) return fail(output.error());
  const Result<Imported> imported = read_into_profile(command);
  if (!imported) {
    output->give_back();
    return fail(imported.error());
  }
  for (const std::string& remark : imported->remarks) print_message(remark);
  bool is_complete = !imported->is_stopped;
  if (is_complete && command.symbolize) {
    const Result<SymbolizeOutcome> outcome = symbolize_file(
        command.output, {}, imported->facts, command.snapshot, command.quiet);
    if (!outcome) return fail(outcome.error());
    is_complete = !outcome->interrupted;
  }
  if (!command.quiet) {
    print_message(fmt::format(
        "{} samples{} -> {} ({})", format_thousands(imported->samples),
        imported->lost == 0 ? "" : fmt::format(", {} lost", format_thousands(imported->lost)),
        command.output, file_size_text(command.output)));
  }
  if (!is_complete) return fail(Error{"interrupted; what was done is in " + command.output});
  return 0;
}

}  // namespace culprit

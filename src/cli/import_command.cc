// `culprit import`: a recording of perf becomes a profile, complete with symbols.

#include <cstdlib>
#include <fmt/format.h>
#include <future>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "base/vdso.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output_file.h"
#include "cli/symbolizing.h"
#include "cli/terminal.h"
#include "cli/unwinding.h"
#include "perfdata/import.h"
#include "records/elf_identity.h"
#include "snapshot/find_files.h"
#include "store/profile_file.h"

namespace culprit {

namespace {

void show_progress(ProgressLine& line, uint64_t done_bytes, uint64_t total_bytes) {
  line.show(total_bytes == 0 ? fmt::format("reading, {} done", format_bytes(done_bytes))
                             : fmt::format("reading {} of {}", format_bytes(done_bytes),
                                           format_bytes(total_bytes)));
}

/// The vdso, which has no file, as one, if it is this kernel's.
std::optional<Fd> open_vdso(const Image& image) {
  const Result<std::string> bytes = read_own_vdso();
  if (!bytes || image.build_id.empty()) return std::nullopt;
  const Result<ElfIdentity> elf = parse_elf_identity(std::as_bytes(std::span(*bytes)));
  if (!elf || elf->build_id != image.build_id) return std::nullopt;
  Result<Fd> memory = copy_to_memory(*bytes);
  if (!memory) return std::nullopt;
  return *std::move(memory);
}

/// What walking copied stacks takes: the binaries, sought as for symbols.
ImportTools make_tools(const SnapshotOptions& options) {
  ImportTools tools;
  tools.make_unwinder = make_unwinder;
  tools.open_image = [search = FileSearch{options.symbol_folders, false}](
                         const Image& image, const std::string& path) -> std::optional<Fd> {
    if (image.kind == ImageKind::vdso) return open_vdso(image);
    const FoundBinary found = find_binary(image, path, -1, search);
    if (!found.file) return std::nullopt;
    Result<Fd> fd = open_readable(found.file->path);
    if (!fd) return std::nullopt;
    return *std::move(fd);
  };
  return tools;
}

/// perf keeps copies of what it recorded: the binary that ran, should it be another by now.
void add_perf_cache(SnapshotOptions& options) {
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return;
  const std::string cache = std::string(home) + "/.debug";
  if (file_exists(cache + "/.build-id")) options.symbol_folders.push_back(cache);
}

/// Reads the file into the profile at `command.output`; an error leaves the caller to clean up.
Result<Imported> read_into_profile(const ImportCommand& command) {
  const InterruptGuard guard;
  ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::create(command.output));
  ImportOptions options = command.import;
  options.tools = make_tools(command.snapshot);
  ProgressLine line;
  ASSIGN_OR_RETURN(Imported imported,
                   import_perf_data(
                       options, [&](const Profile& profile) { return writer.flush(profile); },
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

std::string describe_amount(const Imported& imported) {
  if (imported.samples == 0 && !imported.profile.counts.empty()) {
    return fmt::format("counts of {} events", imported.profile.events.size());
  }
  return fmt::format(
      "{} samples{}", format_thousands(imported.samples),
      imported.lost == 0 ? "" : fmt::format(", {} lost", format_thousands(imported.lost)));
}

}  // namespace

int run_import(ImportCommand command) {
  add_perf_cache(command.snapshot);
  survive_file_size_limit();
  const Result<OutputFile> output = OutputFile::claim(command.output);
  if (!output) return fail(output.error());
  // The kernel takes its time to print its symbols, and another CPU is free while the file is read.
  if (command.symbolize) {
    command.snapshot.kernel_symbols = std::async(std::launch::async, read_kernel_symbols).share();
  }
  const Result<Imported> imported = read_into_profile(command);
  if (!imported) {
    output->give_back();
    return fail(imported.error());
  }
  for (const std::string& remark : imported->remarks) print_message(remark);
  bool is_complete = !imported->is_stopped;
  if (is_complete && command.symbolize) {
    const Result<SymbolizeOutcome> outcome =
        symbolize_file(command.output, {}, imported->facts, command.snapshot, command.quiet);
    if (!outcome) return fail(outcome.error());
    is_complete = !outcome->interrupted;
  }
  if (!command.quiet) {
    print_message(fmt::format("{} -> {} ({})", describe_amount(*imported), command.output,
                              file_size_text(command.output)));
  }
  if (!is_complete) return fail(Error{"interrupted; what was done is in " + command.output});
  return 0;
}

}  // namespace culprit

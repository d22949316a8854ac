// `culprit import`: a recording of perf becomes a profile, complete with symbols.

#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <future>
#include <malloc.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/heap.h"
#include "base/text.h"
#include "base/vdso.h"
#include "cli/commands.h"
#include "cli/complete_profile.h"
#include "cli/interrupt.h"
#include "cli/output_file.h"
#include "cli/reading_data.h"
#include "cli/terminal.h"
#include "cli/unwinding.h"
#include "perfdata/import.h"
#include "records/elf_identity.h"
#include "snapshot/find_files.h"
#include "snapshot/snapshot.h"
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
  tools.read_data = find_data_reader(options);
  tools.open_image = [search = FileSearch{options.symbol_folders, false, options.rights}](
                         const Image& image, const std::string& path) -> std::optional<Fd> {
    if (image.kind == ImageKind::vdso) return open_vdso(image);
    const FoundBinary found = find_binary(image, path, -1, search);
    if (!found.file) return std::nullopt;
    Fd file(::fcntl(found.file->bytes.fd(), F_DUPFD_CLOEXEC, 0));
    if (!file) return std::nullopt;
    return file;
  };
  return tools;
}

/// The images are named by the recording, whoever made it.
ReadingRights rights_of_recording(const std::string& path) {
  struct stat status{};
  const bool is_input = path == "-";
  if ((is_input ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status)) != 0) return {};
  return S_ISREG(status.st_mode) ? ReadingRights::of_owner(status) : ReadingRights();
}

/// perf keeps copies of what it recorded: the binary that ran, should it be another by now.
void add_perf_cache(SnapshotOptions& options) {
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return;
  const std::string cache = std::string(home) + "/.debug";
  if (file_exists(cache + "/.build-id")) options.symbol_folders.push_back(cache);
}

std::string describe_amount(const Imported& imported) {
  if (imported.samples == 0 && !imported.profile.counts.empty()) {
    return fmt::format("counts of {} events", imported.profile.events.size());
  }
  return fmt::format(
      "{} samples{}", format_thousands(imported.samples),
      imported.lost == 0 ? "" : fmt::format(", {} lost", format_thousands(imported.lost)));
}

struct ReadRecording {
  Imported imported;                // its counts are in the file
  std::vector<ImageDemand> demand;  // what they are of
  std::string amount;               // for people
};

/// Reads the recording; what it counts goes into `writer`.
Result<ReadRecording> read_recording(const ImportCommand& command, ProfileWriter& writer,
                                     const InterruptGuard& guard) {
  ReadRecording result;
  const ImportSink store = [&](const Profile& profile) {
    if (command.symbolize) merge_demand(collect_demand(profile), result.demand);
    return writer.flush(profile);
  };
  ImportOptions options = command.import;
  options.tools = make_tools(command.snapshot);
  ProgressLine line;
  ASSIGN_OR_RETURN(result.imported,
                   import_perf_data(options, store, [&](uint64_t done_bytes, uint64_t total_bytes) {
                     if (!command.quiet) show_progress(line, done_bytes, total_bytes);
                     return !guard.is_interrupted();
                   }));
  line.clear();
  Imported& imported = result.imported;
  result.amount = describe_amount(imported);
  if (imported.is_stopped) {
    imported.profile.ledger.note("the import was interrupted: what it had read by then is here");
  }
  // The counts are stored now, so that they outlive us, should the making of symbols be the end of
  // us.
  RETURN_IF_ERROR(store(imported.profile));
  clear_counts(imported.profile);
  ::malloc_trim(0);  // all that the reading took and the symbols will not
  // What the recording itself knows comes first: symbols are looked for where it knows less.
  for (const auto& [image, facts] : imported.facts) {
    RETURN_IF_ERROR(writer.write_facts(image, facts));
  }
  return result;
}

/// Whether all that was asked for is in the file.
Result<bool> write_symbols(const ImportCommand& command, ReadRecording& recording,
                           ProfileWriter& writer, const InterruptGuard& guard) {
  Imported& imported = recording.imported;
  Result<SymbolizeOutcome> outcome = SymbolizeOutcome{};
  if (!imported.is_stopped && command.symbolize) {
    ProgressLine line;
    outcome = symbolize(writer, imported.profile, std::move(recording.demand), imported.facts,
                        command.snapshot, show_symbols(line, guard, command.quiet));
  }
  // A profile without all symbols is still one.
  RETURN_IF_ERROR(writer.close(imported.profile));
  if (!outcome) return outcome.error();
  return !imported.is_stopped && !outcome->interrupted;
}

}  // namespace

int run(const ImportCommand& asked) {
  share_heap_among_threads();
  ImportCommand command = asked;
  add_perf_cache(command.snapshot);
  command.snapshot.rights = rights_of_recording(command.import.path);
  survive_file_size_limit();
  const Result<OutputFile> output = OutputFile::claim(
      {command.output, OutputKind::profile, command.force, {command.import.path}});
  if (!output) return fail(output.error());
  // The kernel takes its time to print its symbols, and another CPU is free while the file is read.
  if (command.symbolize) {
    command.snapshot.kernel_symbols = std::async(std::launch::async, read_kernel_symbols).share();
  }
  const InterruptGuard guard;
  Result<ProfileWriter> writer = ProfileWriter::create(command.output, Survives::process);
  Result<ReadRecording> recording =
      writer ? read_recording(command, *writer, guard) : Result<ReadRecording>(writer.error());
  if (!recording) {
    writer = recording.error();  // it closes the file
    output->give_back();
    return fail(recording.error());
  }
  for (const std::string& remark : recording->imported.remarks) print_message(remark);
  const Result<bool> is_complete = write_symbols(command, *recording, *writer, guard);
  if (!is_complete) return fail(is_complete.error());
  if (!command.quiet) {
    print_message(fmt::format("{} -> {} ({})", recording->amount, printable(command.output),
                              file_size_text(command.output)));
  }
  if (!*is_complete)
    return fail(Error{"interrupted; what was done is in " + printable(command.output)});
  return 0;
}

}  // namespace culprit

#include "snapshot/image_facts_maker.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "base/vdso.h"
#include "snapshot/elf_facts.h"
#include "snapshot/source_text.h"
#include "snapshot/type_facts.h"

namespace culprit {
namespace {

void note_first(ImageFacts& facts, const std::string& sentence) {
  if (sentence.empty()) return;
  facts.missing = facts.missing.empty() ? sentence : sentence + "; " + facts.missing;
}

int64_t find_mtime_ns(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return 0;
  return status.st_mtim.tv_sec * int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
}

/// Whether the profile is of the kernel that runs here, as far as its name tells.
bool is_of_running_kernel(const Machine& machine) {
  utsname system{};
  return ::uname(&system) == 0 && machine.kernel_release == system.release &&
         machine.architecture == system.machine;
}

/// "recorded under another kernel than the running one: 5.4.0 (aarch64)"
std::string describe_other_kernel(const Machine& machine) {
  std::string text = "recorded under another kernel than the running one";
  if (machine.kernel_release.empty()) return text + ", or one that it does not name";
  return text + ": " + printable(machine.kernel_release) + " (" + printable(machine.architecture) +
         ")";
}

std::string read_kernel_build_id(const std::string& notes_path) {
  const Result<std::string> notes = read_file(notes_path);
  if (!notes) return "";
  return parse_build_id_notes(std::as_bytes(std::span(*notes)));
}

void add_functions(const std::vector<KernelFunction>& functions, const ImageDemand& demand,
                   ImageFacts& facts) {
  facts.symbol_source = SymbolSource::kallsyms;
  for (const FileOffset offset : demand.offsets) {
    if (!facts.functions.empty() && offset < facts.functions.back().end) continue;
    const auto after =
        std::upper_bound(functions.begin(), functions.end(), offset,
                         [](FileOffset at, const KernelFunction& f) { return at < f.begin; });
    if (after == functions.begin()) continue;
    const KernelFunction& function = *std::prev(after);
    if (offset >= function.end) continue;
    FunctionFact fact;
    fact.begin = function.begin;
    fact.end = function.end;
    fact.name = facts.strings.intern(function.name);
    fact.linkage_name = StringId(0u);
    fact.file = StringId(0u);
    facts.functions.push_back(fact);
  }
}

}  // namespace

ImageFactsMaker::ImageFactsMaker(const Profile& profile, const SnapshotOptions& options)
    : profile_(profile),
      options_(options),
      search_{options.symbol_folders, options.use_debuginfod, options.rights, &stop_} {}

std::optional<MadeFacts> ImageFactsMaker::make(const ImageDemand& demand, int held,
                                               unsigned threads) {
  const Image& image = profile_.images[demand.image.value];
  switch (image.kind) {
    case ImageKind::program:
    case ImageKind::library:
      return make_from_file(image, demand, held, threads);
    case ImageKind::vdso:
      return make_vdso(image, demand);
    case ImageKind::kernel:
    case ImageKind::module:
      return make_kernel(image, demand);
    case ImageKind::jit:
    case ImageKind::unknown:
      break;
  }
  return std::nullopt;
}

MadeFacts ImageFactsMaker::make_from_file(const Image& image, const ImageDemand& demand, int held,
                                          unsigned threads) {
  MadeFacts made;
  const std::string& path = profile_.strings.text(image.path);
  FoundBinary found = find_binary(image, path, held, search_);
  made.is_replaced = found.is_replaced && !found.file;
  if (!found.file) {
    made.facts.missing = found.missing;
    return made;
  }
  const OpenedElf& binary = *found.file;
  std::optional<OpenedElf> debug;
  if (binary.elf.debug_info_bytes() == 0) debug = find_debug_file(binary, path, search_);
  const std::optional<OpenedElf> alt = find_alt_file(debug ? *debug : binary, search_);
  const ReadingRights& rights = alt ? alt->rights : debug ? debug->rights : binary.rights;
  const ElfSources sources{binary.elf,
                           binary.path,
                           debug ? &*debug : nullptr,
                           alt ? &*alt : nullptr,
                           search_.symbol_folders,
                           rights,
                           options_.names_only,
                           options_.all_functions};
  made.facts = make_elf_facts(sources, demand.offsets, threads);
  note_first(made.facts, found.missing);
  if (options_.with_source && !options_.names_only) {
    const SourceOutcome sources_read =
        add_source_text(made.facts, options_.symbol_folders, rights, find_mtime_ns(binary.path));
    note_first(made.facts, sources_read.remark);
    made.sources_refused = sources_read.refused;
  }
  add_type_facts(made.facts, sources, demand.data);
  const auto has_changed = [](const std::optional<OpenedElf>& file) {
    return file && file->bytes.has_changed();
  };
  if (has_changed(found.file) || has_changed(debug) || has_changed(alt)) {
    made = {};  // of two versions, or of holes
    made.is_replaced = true;
    made.facts.missing = "the file at " + path + " was written to while it was read";
  }
  return made;
}

MadeFacts ImageFactsMaker::make_vdso(const Image& image, const ImageDemand& demand) {
  MadeFacts made;
  if (image.build_id.empty() && !is_of_running_kernel(profile_.machine)) {
    made.facts.missing = "[vdso]: " + describe_other_kernel(profile_.machine);
    return made;
  }
  const Result<std::string> bytes = read_own_vdso();
  if (!bytes) {
    made.facts.missing = bytes.error().message;
    return made;
  }
  Result<ElfFile> elf = ElfFile::open(std::as_bytes(std::span(*bytes)));
  if (!elf) {
    made.facts.missing = "[vdso]: " + elf.error().message;
    return made;
  }
  if (!image.build_id.empty() && image.build_id != elf->build_id()) {
    made.facts.missing = "[vdso]: recorded under another kernel";
    return made;
  }
  made.facts = make_elf_facts({*elf, "[vdso]", nullptr, nullptr, {}}, demand.offsets, 1);
  return made;
}

MadeFacts ImageFactsMaker::make_kernel(const Image& image, const ImageDemand& demand) {
  MadeFacts made;
  made.facts.architecture = profile_.machine.architecture;
  const bool is_module = image.kind == ImageKind::module;
  if (profile_.strings.text(image.path).starts_with("[guest")) {
    made.facts.missing = "a guest's kernel, not the running one";
    return made;
  }
  const std::string name = is_module ? module_name(profile_.strings.text(image.path)) : "";
  const std::string running = read_kernel_build_id(
      is_module ? "/sys/module/" + name + "/notes/.note.gnu.build-id" : "/sys/kernel/notes");
  if (!image.build_id.empty() && !running.empty() && image.build_id != running) {
    made.facts.missing = is_module ? "the module loaded now has another build-id"
                                   : "recorded under another kernel than the running one";
    return made;
  }
  const bool is_identified = !image.build_id.empty() && !running.empty();
  if (!is_identified && !is_of_running_kernel(profile_.machine)) {
    made.facts.missing = describe_other_kernel(profile_.machine);
    return made;
  }
  const Result<KernelSymbols>& symbols = kernel_symbols();
  if (!symbols) {
    made.facts.missing = symbols.error().message;
  } else if (symbols->is_hidden) {
    made.facts.missing =
        "kernel addresses are hidden (kptr_restrict); as root: sysctl kernel.kptr_restrict=0";
  } else if (!is_module) {
    add_functions(symbols->kernel, demand, made.facts);
    add_kernel_code(image, symbols->kernel_address, made.facts);
  } else if (const auto module = symbols->modules.find(name); module != symbols->modules.end()) {
    add_functions(module->second, demand, made.facts);
    add_kernel_code(image, symbols->module_addresses.at(name), made.facts);
  } else {
    made.facts.missing = "module " + name + " is not loaded any more";
  }
  return made;
}

/// As it is now; where that may not be read, as it was linked.
void ImageFactsMaker::add_kernel_code(const Image& image, uint64_t address, ImageFacts& facts) {
  if (options_.names_only || facts.functions.empty()) return;
  const Result<KernelMemory>& memory = kernel_memory();
  if (memory && add_code_from_memory(*memory, address, facts) > 0) return;
  if (image.kind == ImageKind::kernel) {
    const std::string build_id =
        image.build_id.empty() ? read_kernel_build_id("/sys/kernel/notes") : image.build_id;
    const auto vmlinux = find_vmlinux(build_id, profile_.machine.kernel_release, search_);
    if (vmlinux && add_code_from_vmlinux(vmlinux->elf, facts) > 0) return;
  }
  facts.missing =
      "kernel code not kept: " + (memory ? "/proc/kcore has none of it" : memory.error().message);
}

const Result<KernelMemory>& ImageFactsMaker::kernel_memory() {
  std::call_once(memory_once_, [&] {
    memory_ = search_.rights.are_ours()
                  ? KernelMemory::open("/proc/kcore")
                  : Error{"the profile is somebody else's, who may not read /proc/kcore"};
  });
  return *memory_;
}

const Result<KernelSymbols>& ImageFactsMaker::kernel_symbols() {
  if (options_.kernel_symbols.valid()) return options_.kernel_symbols.get();
  std::call_once(kernel_once_, [&] { kernel_ = read_kernel_symbols(); });
  return *kernel_;
}

}  // namespace culprit

#include "collect/stream/process_kernel.h"

#include <fcntl.h>
#include <map>
#include <string_view>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "records/elf_identity.h"
#include "records/proc_text.h"

namespace culprit {

namespace {

constexpr uint64_t kKernelSizeLimit = uint64_t{1} << 28;  // modules begin not far after it

std::string read_build_id(const std::string& notes_path) {
  const Result<std::string> notes = read_file(notes_path);
  if (!notes) return "";
  return find_build_id(std::as_bytes(std::span(*notes)), std::endian::native);
}

/// The address of _text (or _stext), which comes early: the kernel writes all 10 MB of
/// /proc/kallsyms anew for each reader, so no more is read than needed. 0: hidden or absent.
RunAddress read_text_start() {
  const Fd fd(::open("/proc/kallsyms", O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[1 << 15];
  ssize_t got = 0;
  while (fd && (got = ::read(fd.get(), buffer, sizeof buffer)) > 0) {
    const size_t searched = text.size() < 64 ? 0 : text.size() - 64;
    text.append(buffer, static_cast<size_t>(got));
    for (const std::string_view name : {" T _text\n", " t _text\n", " T _stext\n"}) {
      const size_t at = text.find(name, searched);
      if (at == text.npos) continue;
      const size_t line = text.rfind('\n', at) + 1;  // npos + 1 == 0: the first line
      return RunAddress(
          find_number(std::string_view(text).substr(line, at - line), 16).value_or(0));
    }
  }
  return RunAddress(0);
}

}  // namespace

void KernelImages::load_modules() {
  const std::string text = read_file("/proc/modules").value_or("");
  for (ProcModule& module : parse_proc_modules(text)) {
    if (module.start.value == 0) continue;
    code_.add({module.start, module.size_bytes, ImageKind::module, std::move(module.name), {}});
  }
}

/// BPF programs that were there before us: kallsyms has their names but not their sizes, so
/// each reaches to the next one, or a page.
void KernelImages::load_programs() {
  constexpr uint64_t kLongest = 4096;
  const std::string text = read_file("/proc/kallsyms").value_or("");
  std::map<RunAddress, std::string_view> found;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.ends_with("[bpf]")) continue;
    const size_t space = line.find(' ');
    const size_t tab = line.rfind('\t');
    if (tab == line.npos || space + 3 > tab) continue;
    const auto start = find_number(line.substr(0, space), 16);
    if (start && *start != 0) found[RunAddress(*start)] = line.substr(space + 3, tab - space - 3);
  }
  for (auto at = found.begin(); at != found.end(); ++at) {
    const auto next = std::next(at);
    const uint64_t room = next == found.end() ? kLongest : next->first - at->first;
    code_.add({at->first, std::min(room, kLongest), ImageKind::jit, std::string(at->second), {}});
  }
}

void KernelImages::load(ProfileBuilder& builder) {
  is_loaded_ = true;
  text_ = read_text_start();
  if (text_.value == 0) {
    builder.profile().ledger.note(
        "kernel symbols are hidden (kptr_restrict): the kernel is one row");
  } else {
    load_modules();
  }
  Image image;
  image.kind = ImageKind::kernel;
  image.path = builder.intern("[kernel]");
  image.build_id = read_build_id("/sys/kernel/notes");
  kernel_ = ImageId(builder.profile().images.size());
  builder.profile().images.push_back(image);
}

void KernelImages::make_image(LoadedCode& code, ProfileBuilder& builder) {
  Profile& profile = builder.profile();
  Image image;
  image.kind = code.kind;
  if (code.kind == ImageKind::module) {
    image.path = builder.intern("[" + code.name + "]");
    image.size_bytes = code.size_bytes;
    image.build_id = read_build_id("/sys/module/" + code.name + "/notes/.note.gnu.build-id");
  } else {
    image.path = builder.intern("[bpf] " + code.name);
    image.size_bytes = code.size_bytes;
    image.content_hash = code.name;  // a BPF program's name ends with the hash of its code
  }
  code.image = ImageId(profile.images.size());
  profile.images.push_back(image);
  if (code.kind != ImageKind::jit) return;
  facts_.emplace_back(
      code.image, make_code_object_facts(profile.machine.architecture, code.name, code.size_bytes));
}

Location KernelImages::locate(RunAddress address, ProfileBuilder& builder) {
  if (!is_loaded_) load(builder);
  if (text_.value == 0) return {kernel_, FileOffset(0)};
  LoadedCode* code = code_.find(address);
  const bool is_kernel = address >= text_ && address - text_ < kKernelSizeLimit;
  constexpr uint32_t kMaxReloads = 8;
  // Something that came after we looked.
  if (code == nullptr && !is_kernel && reloads_ < kMaxReloads) {
    if (reloads_++ == 0) load_programs();
    load_modules();
    code = code_.find(address);
  }
  if (code != nullptr) {
    if (code->image.is_all()) make_image(*code, builder);
    return {code->image, FileOffset(address - code->start)};
  }
  if (is_kernel) return {kernel_, FileOffset(address - text_)};
  builder.profile().ledger.add(ledger::kUnknownAddress);
  return {kernel_, FileOffset(0)};
}

}  // namespace culprit

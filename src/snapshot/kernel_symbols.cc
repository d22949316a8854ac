#include "snapshot/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <tuple>

#include "base/file.h"
#include "base/text.h"

namespace culprit {
namespace {

struct Entry {
  uint64_t address;
  char type;
  std::string_view name;
  std::string_view module;  // "" for the kernel
};

uint64_t parse_hex(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

/// "address type name[\t[module]]"; an empty name where the line is none.
Entry parse_line(std::string_view line) {
  Entry entry{0, 0, {}, {}};
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || line.size() < space + 4) return entry;
  entry.address = parse_hex(line.substr(0, space));
  entry.type = line[space + 1];
  entry.name = line.substr(space + 3);
  if (const size_t tab = entry.name.find('\t'); tab != std::string_view::npos) {
    entry.module = entry.name.substr(tab + 1);
    entry.name = entry.name.substr(0, tab);
    if (entry.module.size() > 2) entry.module = entry.module.substr(1, entry.module.size() - 2);
  }
  return entry;
}

bool is_code(char type) {
  return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

struct LoadedModule {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
};

std::map<std::string, LoadedModule> parse_modules(std::string_view modules) {
  std::map<std::string, LoadedModule> loaded;
  for (const std::string_view line : split(modules, '\n')) {
    // name size uses users state address
    const std::vector<std::string_view> fields = split(line, ' ');
    if (fields.size() < 6) continue;
    LoadedModule& module = loaded[std::string(fields[0])];
    module.address = parse_hex(fields[5]);
    std::from_chars(fields[1].data(), fields[1].data() + fields[1].size(), module.size_bytes);
  }
  return loaded;
}

/// Which of two names at one address is kept: code before data, global before local, then the one
/// with fewer leading underscores, then the shorter.
bool is_better(const Entry& a, const Entry& b) {
  const auto key = [](const Entry& e) {
    return std::tuple(!is_code(e.type), e.type == 't' || e.type == 'w',
                      e.name.find_first_not_of('_'), e.name.size(), e.name);
  };
  return key(a) < key(b);
}

/// Entries of one place, all types -> its functions. Data symbols end functions, too.
std::vector<KernelFunction> make_functions(std::vector<Entry> entries, uint64_t base,
                                           uint64_t limit) {
  const auto is_before = [](const Entry& a, const Entry& b) { return a.address < b.address; };
  // The kernel's own are; those of modules are not.
  if (!std::is_sorted(entries.begin(), entries.end(), is_before)) {
    std::sort(entries.begin(), entries.end(), is_before);
  }
  std::vector<KernelFunction> functions;
  functions.reserve(entries.size());
  for (size_t i = 0; i < entries.size();) {
    Entry e = entries[i];
    size_t next = i + 1;
    for (; next < entries.size() && entries[next].address == e.address; ++next) {
      if (is_better(entries[next], e)) e = entries[next];
    }
    const uint64_t end = next < entries.size() ? entries[next].address : std::max(limit, e.address);
    if (is_code(e.type) && e.address >= base && e.address < limit)
      functions.push_back(
          {FileOffset(e.address - base), FileOffset(std::min(end, limit) - base), e.name});
    i = next;
  }
  functions.shrink_to_fit();
  return functions;
}

}  // namespace

KernelSymbols parse_kernel_symbols(std::string_view kallsyms, std::string_view modules) {
  KernelSymbols symbols;
  uint64_t text_start = 0;
  uint64_t text_end = 0;
  uint64_t any_address = 0;
  std::vector<Entry> kernel;
  std::map<std::string, std::vector<Entry>, std::less<>> by_module;
  while (!kallsyms.empty()) {
    const size_t line_end = std::min(kallsyms.find('\n'), kallsyms.size());
    const Entry entry = parse_line(kallsyms.substr(0, line_end));
    kallsyms.remove_prefix(std::min(line_end + 1, kallsyms.size()));
    if (entry.name.empty()) continue;
    any_address |= entry.address;
    if (!entry.module.empty()) {
      auto module = by_module.find(entry.module);
      if (module == by_module.end())
        module = by_module.try_emplace(std::string(entry.module)).first;
      module->second.push_back(entry);
      continue;
    }
    // Half of all symbols: data, which come behind the code.
    if (text_end != 0 && entry.address > text_end) continue;
    if (entry.name == "_text") text_start = entry.address;
    if (entry.name == "_stext" && text_start == 0) text_start = entry.address;
    if (entry.name == "_etext") text_end = entry.address;
    const bool is_frame = entry.name == "_text" || entry.name == "_stext";
    if (!is_frame && entry.address != 0) kernel.push_back(entry);
  }
  symbols.is_hidden = any_address == 0;
  if (symbols.is_hidden) return symbols;
  symbols.kernel_address = text_start;
  if (text_start != 0)
    symbols.kernel = make_functions(std::move(kernel), text_start,
                                    text_end > text_start ? text_end : UINT64_MAX);
  const auto loaded = parse_modules(modules);
  for (auto& [name, entries] : by_module) {
    const auto at = loaded.find(name);
    if (at == loaded.end() || at->second.address == 0) continue;
    const auto [address, size_bytes] = at->second;
    symbols.module_addresses[name] = address;
    symbols.modules[name] = make_functions(std::move(entries), address, address + size_bytes);
  }
  return symbols;
}

Result<KernelSymbols> read_kernel_symbols() {
  ASSIGN_OR_RETURN(std::string kallsyms, read_file("/proc/kallsyms"));
  kallsyms.shrink_to_fit();
  const std::string modules = read_file("/proc/modules").value_or("");
  const auto text = std::make_shared<const std::string>(std::move(kallsyms));
  KernelSymbols symbols = parse_kernel_symbols(*text, modules);
  symbols.text = text;
  return symbols;
}

std::string module_name(std::string_view path) {
  path = path.substr(path.rfind('/') + 1);
  if (path.starts_with('[')) path.remove_prefix(1);
  if (path.ends_with(']')) path.remove_suffix(1);
  if (const size_t end = path.find(".ko"); end != std::string_view::npos)
    path = path.substr(0, end);
  std::string name(path);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace culprit

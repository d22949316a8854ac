#include "simulate/line_places.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "binary/debug_info.h"
#include "binary/elf_file.h"
#include "binary/symbols.h"
#include "simulate/qemu/qemu_command.h"
#include "simulate/region_places.h"

namespace culprit {
namespace {

bool is_file(const std::string& path, const std::string& wanted) {
  if (path == wanted) return true;
  return path.ends_with(wanted) && path[path.size() - wanted.size() - 1] == '/';
}

/// The lines of the program, as far as they are wanted.
class Lines {
 public:
  Lines(const ElfFile& elf, const DebugFacts& facts) : elf_(elf), facts_(facts) {}

  void find(objects::Range& range) {
    for (const RangeFacts& one : facts_.ranges) {
      for (size_t i = 0; i < one.lines.size(); ++i) {
        const bool is_last = i + 1 == one.lines.size();
        if (is_last && !one.function) continue;
        const LinkAddress end = is_last ? one.function->end : one.lines[i + 1].address;
        add(range, one.lines[i].file, one.lines[i].line, {one.lines[i].address, end});
      }
      for (const DebugInline& call : one.inlines) {
        add(range, call.call_file, call.call_line, {call.begin, call.end});
      }
    }
  }
  /// Other lines of the file that have code.
  [[nodiscard]] const std::set<uint32_t>& others() const { return others_; }

 private:
  void add(objects::Range& range, uint32_t file, uint32_t line, AddressRange code) {
    if (line == 0 || code.begin >= code.end) return;
    if (!is_file(normalize_path(facts_.strings[file]), range.file)) return;
    if (line != range.line) {
      others_.insert(line);
    } else if (const auto begin = elf_.to_file_offset(code.begin)) {
      range.code.emplace_back(begin->value, begin->value + (code.end - code.begin));
    }
  }

  const ElfFile& elf_;
  const DebugFacts& facts_;
  std::set<uint32_t> others_;
};

std::string name_nearest(const std::set<uint32_t>& lines, uint32_t line) {
  const auto after = lines.upper_bound(line);
  if (lines.empty()) return ": it has no code of that file";
  if (after == lines.end()) return fmt::format(": the last one that has is {}", *lines.rbegin());
  if (after == lines.begin()) return fmt::format(": the first one that has is {}", *after);
  return fmt::format(": those before and behind it that have are {} and {}", *std::prev(after),
                     *after);
}

}  // namespace

Result<void> find_code_of_ranges(std::vector<objects::Range>& ranges, const std::string& program) {
  const auto is_by_line = [](const objects::Range& range) { return range.line != 0; };
  if (std::none_of(ranges.begin(), ranges.end(), is_by_line)) return {};
  ASSIGN_OR_RETURN(const std::string path, find_simulated_program(program));
  ASSIGN_OR_RETURN(const Fd fd, open_readable(path));
  ASSIGN_OR_RETURN(const MappedFile file, MappedFile::map(fd.get(), path));
  ASSIGN_OR_RETURN(const ElfFile elf, ElfFile::open(file.bytes()));
  Result<DebugInfo> debug = DebugInfo::open(elf, elf, nullptr, path);
  if (!debug) {
    return Error{
        fmt::format("--range by line: {} has no debug information that says which code is "
                    "of which line: {}",
                    in_quotes(path), debug.error().message)};
  }
  const Symbols symbols = Symbols::read(elf, nullptr);
  const DebugFacts facts = debug->read(ranges_of(symbols));
  for (objects::Range& range : ranges) {
    if (!is_by_line(range)) continue;
    Lines lines(elf, facts);
    lines.find(range);
    range.program = whole_path(path);
    if (range.code.empty()) {
      return Error{fmt::format("no code of {} is of {}:{}{}", in_quotes(path),
                               printable(range.file), range.line,
                               name_nearest(lines.others(), range.line))};
    }
  }
  return {};
}

}  // namespace culprit

#include "binary/debug_info.h"

#include <algorithm>
#include <elf.h>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "binary/dwarf_die.h"
#include "binary/dwarf_lines.h"
#include "binary/range_collector.h"
#include "binary/split_dwarf.h"

namespace culprit {
namespace {

constexpr int kDeepestScope = 256;  // compilers nest scopes some tens deep

struct DwarfEnd {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
using DwarfHandle = std::unique_ptr<Dwarf, DwarfEnd>;

/// A compilation unit that has code.
struct Unit {
  Dwarf_Die die{};
  uint64_t offset = 0;  // of its DIE in .debug_info
  uint64_t size_bytes = 0;
  bool is_skeleton = false;
  std::vector<AddressRange> ranges;
};

enum class TagKind : uint8_t { skip, scope, type, function, inlined };

TagKind classify(int tag) {
  switch (tag) {
    case DW_TAG_subprogram:
      return TagKind::function;
    case DW_TAG_inlined_subroutine:
      return TagKind::inlined;
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
      return TagKind::scope;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      return TagKind::type;
    default:
      return TagKind::skip;
  }
}

const char* find_text(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

uint32_t declaration_line(Dwarf_Die* die) {
  int line = 0;
  return dwarf_decl_line(die, &line) == 0 && line > 0 ? static_cast<uint32_t>(line) : 0;
}

/// Names of functions by their DIE, and where inlined ones are declared: an inlined
/// function is met at each of its calls.
class NameCache {
 public:
  uint32_t line(Dwarf_Die* die) {
    const auto [entry, is_new] = lines_.try_emplace(die->addr, 0);
    if (is_new) entry->second = declaration_line(die);
    return entry->second;
  }

  uint32_t intern(Dwarf_Die* die, RangeCollector& collector) {
    const auto [entry, is_new] = ids_.try_emplace(die->addr, 0);
    if (!is_new) return entry->second;
    const char* name = find_text(die, DW_AT_linkage_name);
    if (name == nullptr) name = find_text(die, DW_AT_MIPS_linkage_name);
    if (name == nullptr) name = find_text(die, DW_AT_name);
    if (name != nullptr) entry->second = collector.intern(name);
    return entry->second;
  }

 private:
  std::unordered_map<const void*, uint32_t> ids_;
  std::unordered_map<const void*, uint32_t> lines_;
};

/// Walks the tree of one unit. Damaged trees may send us in circles: every step costs one
/// of a budget that honest trees cannot use up (a DIE has at least one byte).
class UnitWalker {
 public:
  UnitWalker(const Unit& unit, RangeCollector& collector, NameCache& names, UnitLines& lines,
             bool is_deep)
      : collector_(collector),
        names_(names),
        lines_(lines),
        is_deep_(is_deep),
        budget_(unit.size_bytes) {}

  /// False if the tree is damaged.
  bool walk_children(Dwarf_Die* parent, uint32_t inline_depth, int depth) {
    Dwarf_Die child;
    if (depth > kDeepestScope) return false;
    for (int status = dwarf_child(parent, &child); status != 1;
         status = dwarf_siblingof(&child, &child)) {
      if (status < 0 || budget_ == 0) return false;
      --budget_;
      bool is_sound = true;
      switch (classify(dwarf_tag(&child))) {
        case TagKind::skip:
          break;
        case TagKind::type:  // mostly declarations; the functions of local classes are in them
          if (is_deep_) is_sound = walk_children(&child, inline_depth, depth + 1);
          break;
        case TagKind::scope:
          is_sound = walk_children(&child, inline_depth, depth + 1);
          break;
        case TagKind::function:
          is_sound = read_function(&child, depth);
          break;
        case TagKind::inlined:
          is_sound = read_inline(&child, inline_depth, depth);
          break;
      }
      if (!is_sound) return false;
    }
    return true;
  }

 private:
  bool read_function(Dwarf_Die* die, int depth) {
    const CodeAttributes attributes = read_code_attributes(die);
    bool is_wanted = false;
    if (attributes.has_code()) {
      read_ranges(die, attributes, ranges_);
      for (const AddressRange& range : ranges_) {
        if (!collector_.wants(range.begin, range.end)) continue;
        is_wanted = true;
        collector_.add_function({range.begin, range.end, names_.intern(die, collector_),
                                 lines_.file_of_declaration(die), declaration_line(die)});
      }
    }
    if (!is_wanted && !is_deep_) return true;
    return walk_children(die, 0, depth + 1);
  }

  bool read_inline(Dwarf_Die* die, uint32_t inline_depth, int depth) {
    CodeAttributes attributes = read_code_attributes(die);
    read_ranges(die, attributes, ranges_);
    bool is_wanted = false;
    for (const AddressRange& range : ranges_) {
      if (!collector_.wants(range.begin, range.end)) continue;
      is_wanted = true;
      Dwarf_Die origin;
      const bool has_origin =
          attributes.origin.code != 0 && dwarf_formref_die(&attributes.origin, &origin) != nullptr;
      Dwarf_Die* named = has_origin ? &origin : die;
      collector_.add_inline({range.begin, range.end, inline_depth, names_.intern(named, collector_),
                             lines_.file(to_number(attributes.call_file)),
                             to_number(attributes.call_line), names_.line(named),
                             to_number(attributes.call_discriminator)});
    }
    // A unit without code of its own may still hold calls that have some.
    if (!is_wanted && !ranges_.empty()) return true;
    return walk_children(die, inline_depth + (is_wanted ? 1 : 0), depth + 1);
  }

  RangeCollector& collector_;
  NameCache& names_;
  UnitLines& lines_;
  bool is_deep_;
  uint64_t budget_;
  std::vector<AddressRange> ranges_;  // of the DIE at hand; kept for its memory
};

bool is_skeleton_die(Dwarf_Die* die, uint8_t unit_type) {
  return unit_type == DW_UT_skeleton || dwarf_hasattr(die, DW_AT_GNU_dwo_name) ||
         dwarf_hasattr(die, DW_AT_dwo_name);
}

/// Ranges per unit from .debug_aranges, for producers that write none at the unit itself.
std::unordered_map<uint64_t, std::vector<AddressRange>> read_aranges(Dwarf* dwarf) {
  std::unordered_map<uint64_t, std::vector<AddressRange>> by_unit;
  Dwarf_Aranges* aranges = nullptr;
  size_t count = 0;
  if (dwarf_getaranges(dwarf, &aranges, &count) != 0) return by_unit;
  for (size_t i = 0; i < count; ++i) {
    Dwarf_Addr begin = 0;
    Dwarf_Word size = 0;
    Dwarf_Off unit = 0;
    if (dwarf_getarangeinfo(dwarf_onearange(aranges, i), &begin, &size, &unit) != 0) continue;
    if (size > 0 && size <= UINT64_MAX - begin)
      by_unit[unit].push_back({LinkAddress(begin), LinkAddress(begin + size)});
  }
  return by_unit;
}

/// Linkers leave the ranges of functions they dropped at address 0 or 1, where they may
/// seem to hold real code: only what starts in an executable segment counts.
void drop_dead_ranges(std::vector<AddressRange>& ranges, const ElfFile& image) {
  std::erase_if(ranges, [&](const AddressRange& range) {
    return std::none_of(image.segments().begin(), image.segments().end(), [&](const ElfSegment& s) {
      return s.executable && range.begin >= s.address && range.begin - s.address < s.size_bytes;
    });
  });
}

std::vector<Unit> find_units(Dwarf* dwarf, const ElfFile& image) {
  std::vector<Unit> units;
  std::optional<std::unordered_map<uint64_t, std::vector<AddressRange>>> aranges;
  Dwarf_CU* cu = nullptr;
  Unit unit;
  uint8_t type = 0;
  while (dwarf_get_units(dwarf, cu, &cu, nullptr, &type, &unit.die, nullptr) == 0) {
    if (type == DW_UT_type || type == DW_UT_split_type) continue;
    if (dwarf_tag(&unit.die) == DW_TAG_partial_unit) continue;
    const CodeAttributes attributes = read_code_attributes(&unit.die);
    read_ranges(&unit.die, attributes, unit.ranges);
    unit.offset = dwarf_dieoffset(&unit.die);
    if (unit.ranges.empty()) {
      if (!aranges) aranges = read_aranges(dwarf);
      if (const auto found = aranges->find(unit.offset); found != aranges->end())
        unit.ranges = found->second;
    }
    drop_dead_ranges(unit.ranges, image);
    if (unit.ranges.empty()) continue;
    Dwarf_Off size = 0;
    Dwarf_Off next = 0;
    size_t header_size = 0;
    const Dwarf_Off start = unit.offset - dwarf_cuoffset(&unit.die);
    if (dwarf_next_unit(dwarf, start, &next, &header_size, nullptr, nullptr, nullptr, nullptr,
                        nullptr, nullptr) == 0 &&
        next > start)
      size = next - start;
    unit.size_bytes = size;
    unit.is_skeleton = is_skeleton_die(&unit.die, type);
    units.push_back(unit);
  }
  return units;
}

/// Finds none in files that are rare: of 32 bits, or big-endian.
LineSections find_line_sections(const ElfFile& file) {
  const std::span<const std::byte> bytes = file.bytes();
  const bool is_usual = bytes.size() > EI_DATA && bytes[EI_CLASS] == std::byte{ELFCLASS64} &&
                        bytes[EI_DATA] == std::byte{ELFDATA2LSB};
  if (!is_usual) return {};
  const auto find = [&](std::string_view name) {
    return file.section(name).value_or(std::span<const std::byte>());
  };
  return {find(".debug_line"), find(".debug_line_str"), find(".debug_str")};
}

}  // namespace

struct DebugInfo::State {
  DwarfHandle alt;  // closed after `main`, which points into it
  DwarfHandle main;
  std::vector<Unit> units;
  std::string path;
  std::vector<std::string> folders;
  std::span<const std::byte> bytes;
  LineTables line_tables;
  std::optional<SplitDwarf> split;

  void read_unit(Unit& unit, RangeCollector& collector, NameCache& names, PathInterner& paths);
  void read_skeleton(Unit& unit, RangeCollector& collector, UnitLines& lines);
};

DebugInfo::DebugInfo(std::unique_ptr<State> state) : state_(std::move(state)) {}
DebugInfo::DebugInfo(DebugInfo&&) noexcept = default;
DebugInfo& DebugInfo::operator=(DebugInfo&&) noexcept = default;
DebugInfo::~DebugInfo() = default;

Result<DebugInfo> DebugInfo::open(const ElfFile& image, const ElfFile& debug_file,
                                  const ElfFile* alt_file, std::string path,
                                  std::vector<std::string> folders) {
  auto state = std::make_unique<State>();
  state->main.reset(dwarf_begin_elf(debug_file.handle(), DWARF_C_READ, nullptr));
  if (!state->main)
    return Error{"debug information cannot be read: " + std::string(dwarf_errmsg(-1))};
  if (alt_file != nullptr) {
    state->alt.reset(dwarf_begin_elf(alt_file->handle(), DWARF_C_READ, nullptr));
    if (state->alt) dwarf_setalt(state->main.get(), state->alt.get());
  }
  state->units = find_units(state->main.get(), image);
  state->path = std::move(path);
  state->folders = std::move(folders);
  state->bytes = debug_file.bytes();
  state->line_tables.sections = find_line_sections(debug_file);
  return DebugInfo(std::move(state));
}

void DebugInfo::State::read_skeleton(Unit& unit, RangeCollector& collector, UnitLines& lines) {
  if (!split) {
    Result<SplitDwarf> opened = SplitDwarf::open(bytes, path, folders);
    if (!opened) {
      ++collector.facts().missing_split_units;
      return;
    }
    split = *std::move(opened);
  }
  const auto file_name = [&](uint64_t index) { return lines.file(index); };
  const uint64_t header = unit.offset - dwarf_cuoffset(&unit.die);
  if (!split->read_unit(header, collector, file_name)) ++collector.facts().missing_split_units;
}

void DebugInfo::State::read_unit(Unit& unit, RangeCollector& collector, NameCache& names,
                                 PathInterner& paths) {
  std::vector<size_t> wanted_here;
  for (const AddressRange& range : unit.ranges) {
    const auto [first, last] = collector.find_overlaps(range.begin, range.end);
    for (size_t i = first; i < last; ++i) wanted_here.push_back(i);
  }
  if (wanted_here.empty()) return;

  collector.begin_unit(unit.offset);
  paths.begin_unit(&unit.die);
  UnitLines lines(unit.die, line_tables, paths);
  bool is_sound = true;
  if (unit.is_skeleton) {
    read_skeleton(unit, collector, lines);
  } else {
    is_sound = UnitWalker(unit, collector, names, lines, false).walk_children(&unit.die, 0, 0);
    const bool is_complete = std::all_of(wanted_here.begin(), wanted_here.end(),
                                         [&](size_t i) { return collector.has_function(i); });
    if (is_sound && !is_complete) {
      collector.forget_unit();
      is_sound = UnitWalker(unit, collector, names, lines, true).walk_children(&unit.die, 0, 0);
    }
  }
  if (!lines.read_rows(unit.ranges, collector)) is_sound = false;
  if (!is_sound) ++collector.facts().damaged_units;
}

DebugFacts DebugInfo::read(std::vector<AddressRange> wanted, UnitShare share) {
  RangeCollector collector(std::move(wanted));
  NameCache names;
  PathInterner paths(collector);
  for (size_t i = share.index; i < state_->units.size(); i += share.count)
    state_->read_unit(state_->units[i], collector, names, paths);
  return collector.finish();
}

DebugFacts merge_debug_facts(std::vector<DebugFacts> parts) {
  CHECK(!parts.empty());
  if (parts.size() == 1) return std::move(parts.front());
  DebugFacts merged;
  merged.ranges.resize(parts.front().ranges.size());
  RangeCollector pool({});
  // A range with a function beats one without, then the first unit of the file wins.
  const auto rank = [](const RangeFacts& r) {
    return std::tuple(!r.function, r.lines.empty(), r.unit.value_or(UINT64_MAX),
                      r.lines_unit.value_or(UINT64_MAX));
  };
  for (DebugFacts& part : parts) {
    std::vector<uint32_t> ids;
    ids.reserve(part.strings.size());
    for (const std::string& text : part.strings) ids.push_back(pool.intern(text));
    for (size_t i = 0; i < part.ranges.size(); ++i) {
      RangeFacts& range = part.ranges[i];
      if (!(rank(range) < rank(merged.ranges[i]))) continue;
      if (range.function) {
        range.function->name = ids[range.function->name];
        range.function->file = ids[range.function->file];
      }
      for (DebugLine& line : range.lines) line.file = ids[line.file];
      for (DebugInline& call : range.inlines) {
        call.name = ids[call.name];
        call.call_file = ids[call.call_file];
      }
      merged.ranges[i] = std::move(range);
    }
    merged.missing_split_units += part.missing_split_units;
    merged.damaged_units += part.damaged_units;
  }
  merged.strings = std::move(pool.facts().strings);
  return merged;
}

}  // namespace culprit

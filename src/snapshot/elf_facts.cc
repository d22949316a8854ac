#include "snapshot/elf_facts.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "binary/debug_info.h"
#include "binary/demangle.h"
#include "binary/frame_ranges.h"
#include "binary/inflated_elf.h"
#include "binary/symbols.h"
#include "snapshot/block_facts.h"

namespace culprit {
namespace {

constexpr uint64_t kLooseBytes = 64;              // around an address in no function
constexpr uint64_t kBigDebugInfoBytes = 8 << 20;  // from here on two threads pay
constexpr uint64_t kMaxFunctionBytes = 64 << 20;  // larger: a damaged symbol's claim

/// A stretch of code to describe: a function, or what surrounds a loose address.
struct Stretch {
  AddressRange range;
  std::string linkage_name;
  bool is_function = false;
};

void note(ImageFacts& facts, const std::string& sentence) {
  if (sentence.empty()) return;
  if (!facts.missing.empty()) facts.missing += "; ";
  facts.missing += sentence;
}

const ElfFile& file_with_debug_info(const ElfSources& sources) {
  return sources.debug != nullptr ? sources.debug->elf : sources.binary;
}

void run_jobs(InflatedElf& file, unsigned threads) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t job = 0; (job = next++) < file.job_count();) file.run(job);
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
}

/// The DWARF of one image, opened once per thread on one inflated copy.
class DebugReaders {
 public:
  static Result<DebugReaders> open(const ElfSources& sources, unsigned count) {
    const ReadingGuard guard(sources.rights);
    if (!guard.is_in_force())
      return Error{"debug information not read: the rights of its owner cannot be taken on here"};
    DebugReaders opened;
    opened.rights_ = sources.rights;
    const ElfFile* dwarf = &file_with_debug_info(sources);
    opened.inflated_ = InflatedElf::plan(*dwarf);
    if (opened.inflated_) {
      run_jobs(*opened.inflated_, count);
      ASSIGN_OR_RETURN(ElfFile elf, ElfFile::open(opened.inflated_->bytes()));
      dwarf = &opened.inflated_elf_.emplace(std::move(elf));
    }
    for (unsigned i = 0; i < std::max(count, 1u); ++i) {
      ASSIGN_OR_RETURN(
          DebugInfo reader,
          DebugInfo::open(sources.binary, *dwarf, sources.alt ? &sources.alt->elf : nullptr,
                          sources.debug ? sources.debug->path : sources.path, sources.folders));
      opened.readers_.push_back(std::move(reader));
    }
    return opened;
  }

  /// The readers open what the debug information names as they come to it: .dwo files.
  DebugFacts read(const std::vector<AddressRange>& wanted) {
    const auto count = static_cast<uint32_t>(readers_.size());
    std::vector<DebugFacts> parts(count);
    const auto read_part = [&](uint32_t i) {
      const ReadingGuard guard(rights_);
      CHECK(guard.is_in_force());  // as it was in open()
      parts[i] = readers_[i].read(wanted, {i, count});
    };
    std::vector<std::thread> helpers;
    for (uint32_t i = 1; i < count; ++i) helpers.emplace_back(read_part, i);
    read_part(0);
    for (std::thread& helper : helpers) helper.join();
    return merge_debug_facts(std::move(parts));
  }

 private:
  std::optional<InflatedElf> inflated_;  // the readers point into it
  std::optional<ElfFile> inflated_elf_;
  std::vector<DebugInfo> readers_;
  ReadingRights rights_;
};

/// Functions by symbol that hold one of `addresses` (ascending); the rest goes to `loose`.
std::vector<Stretch> find_functions(const Symbols& symbols,
                                    const std::vector<LinkAddress>& addresses,
                                    std::vector<LinkAddress>& loose) {
  std::vector<Stretch> stretches;
  for (const LinkAddress address : addresses) {
    if (!stretches.empty() && address < stretches.back().range.end) continue;
    const Symbol* symbol = symbols.find(address);
    if (symbol == nullptr || symbol->end - symbol->begin > kMaxFunctionBytes)
      loose.push_back(address);
    else
      stretches.push_back({{symbol->begin, symbol->end}, std::string(symbol->name), true});
  }
  return stretches;
}

/// The room between the symbols around `address`.
AddressRange find_gap(const Symbols& symbols, LinkAddress address) {
  const std::vector<Symbol>& all = symbols.all();
  const auto after = std::upper_bound(all.begin(), all.end(), address,
                                      [](LinkAddress a, const Symbol& s) { return a < s.begin; });
  AddressRange gap{LinkAddress(0), LinkAddress(UINT64_MAX)};
  if (after != all.end()) gap.end = after->begin;
  if (after != all.begin()) gap.begin = std::min(std::prev(after)->end, address);
  return gap;
}

const AddressRange* find_range(const std::vector<AddressRange>& ranges, LinkAddress address) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), address,
                       [](LinkAddress a, const AddressRange& r) { return a < r.begin; });
  if (after == ranges.begin() || address >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

/// Disassemblers' name for a function that has lost its own.
std::string make_nameless(LinkAddress begin) {
  char name[32];
  std::snprintf(name, sizeof name, "sub_%" PRIx64, begin.value);
  return name;
}

/// Stretches for addresses without a symbol: the function that the debug information has
/// there, else the one that the unwind tables have, else the surroundings.
std::vector<Stretch> find_loose_stretches(const std::vector<LinkAddress>& loose, const ElfFile& elf,
                                          const Symbols& symbols, DebugReaders* debug) {
  if (loose.empty()) return {};
  const std::vector<AddressRange> frames = read_frame_ranges(elf);
  std::vector<AddressRange> points;
  for (const LinkAddress a : loose)
    if (points.empty() || points.back().begin != a) points.push_back({a, a + 1});
  DebugFacts facts;
  if (debug != nullptr) facts = debug->read(points);
  std::vector<Stretch> stretches;
  for (size_t i = 0; i < points.size(); ++i) {
    const LinkAddress at = points[i].begin;
    if (!stretches.empty() && at < stretches.back().range.end) continue;
    AddressRange gap = find_gap(symbols, at);
    if (!stretches.empty()) gap.begin = std::max(gap.begin, stretches.back().range.end);
    Stretch stretch;
    if (!facts.ranges.empty() && facts.ranges[i].function) {
      const DebugFunction& f = *facts.ranges[i].function;
      stretch = {{f.begin, f.end}, facts.strings[f.name], f.name != 0};
    } else if (const AddressRange* frame = find_range(frames, at);
               frame != nullptr && frame->end - frame->begin <= kMaxFunctionBytes) {
      stretch = {*frame, make_nameless(frame->begin), true};
    } else {
      stretch.range.begin = LinkAddress(at.value - std::min(at.value, kLooseBytes));
      stretch.range.end = LinkAddress(at.value + std::min(kLooseBytes, UINT64_MAX - at.value));
    }
    stretch.range.begin = std::max(stretch.range.begin, gap.begin);
    stretch.range.end = std::min(stretch.range.end, gap.end);
    stretches.push_back(std::move(stretch));
  }
  return stretches;
}

/// Turns link addresses and debug strings into the facts' own offsets and strings.
class FactWriter {
 public:
  FactWriter(ImageFacts& facts, const ElfFile& elf, const DebugFacts* debug, bool with_code)
      : facts_(facts), elf_(elf), debug_(debug), with_code_(with_code) {
    if (debug != nullptr) {
      texts_.resize(debug->strings.size());
      names_.resize(debug->strings.size());
    }
  }

  void write(const Stretch& stretch, const RangeFacts* debug) {
    const std::optional<FileOffset> begin = find_begin(stretch);
    if (!begin) return;
    if (stretch.is_function) write_function(stretch, debug);
    if (debug != nullptr) write_debug(*debug, stretch.range.end);
    const auto bytes = elf_.loaded_bytes(stretch.range.begin, stretch.range.end);
    if (with_code_ && !bytes.empty() && elf_.has_code())
      facts_.code.push_back(
          {*begin, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
  }

  /// Of a function without counts nothing but its name is told.
  void write_name(const Stretch& function) {
    if (find_begin(function)) write_function(function, nullptr);
  }

  /// Sorts by offset: segments need not be in the order of their addresses.
  void finish() {
    const auto by_begin = [](const auto& a, const auto& b) { return a.begin < b.begin; };
    std::stable_sort(facts_.functions.begin(), facts_.functions.end(), by_begin);
    std::stable_sort(facts_.code.begin(), facts_.code.end(), by_begin);
    std::stable_sort(facts_.inlines.begin(), facts_.inlines.end(), by_begin);
    std::stable_sort(facts_.lines.begin(), facts_.lines.end(),
                     [](const LineFact& a, const LineFact& b) { return a.offset < b.offset; });
    // Where one stretch ends and the next begins, the row of the next counts.
    const auto is_overridden = [&](const LineFact& row) {
      const LineFact* next = &row + 1;
      return next != facts_.lines.data() + facts_.lines.size() && next->offset == row.offset;
    };
    std::vector<LineFact> kept;
    kept.reserve(facts_.lines.size());
    for (const LineFact& row : facts_.lines)
      if (!is_overridden(row)) kept.push_back(row);
    facts_.lines = std::move(kept);
  }

 private:
  /// Where the stretch lies in the file; what follows is written by that.
  std::optional<FileOffset> find_begin(const Stretch& stretch) {
    const std::optional<FileOffset> begin = elf_.to_file_offset(stretch.range.begin);
    if (begin) shift_ = stretch.range.begin.value - begin->value;
    return begin;
  }

  [[nodiscard]] FileOffset to_offset(LinkAddress a) const { return FileOffset(a.value - shift_); }

  void write_function(const Stretch& stretch, const RangeFacts* debug) {
    FunctionFact fact;
    fact.begin = to_offset(stretch.range.begin);
    fact.end = to_offset(stretch.range.end);
    const std::string name = demangle(stretch.linkage_name);
    fact.name = facts_.strings.intern(name);
    fact.linkage_name =
        facts_.strings.intern(name == stretch.linkage_name ? "" : stretch.linkage_name);
    fact.file = StringId(0u);
    if (debug != nullptr && debug->function) {
      fact.file = intern_text(debug->function->file);
      fact.line = debug->function->line;
    }
    facts_.functions.push_back(fact);
  }

  void write_debug(const RangeFacts& debug, LinkAddress end) {
    for (const DebugLine& row : debug.lines)
      facts_.lines.push_back(
          {to_offset(row.address), intern_text(row.file), row.line, row.column, row.discriminator});
    for (const DebugInline& call : debug.inlines)
      facts_.inlines.push_back({to_offset(call.begin), to_offset(call.end), call.depth,
                                intern_name(call.name), intern_text(call.call_file), call.call_line,
                                intern_linkage_name(call.name), call.line,
                                call.call_discriminator});
    // The next stretch may be far away: no line is known between.
    if (!debug.lines.empty()) facts_.lines.push_back({to_offset(end), StringId(0u), 0, 0, 0});
  }

  StringId intern_text(uint32_t id) {
    std::optional<StringId>& known = texts_[id];
    if (!known) known = facts_.strings.intern(debug_->strings[id]);
    return *known;
  }
  StringId intern_linkage_name(uint32_t id) {
    const bool same = facts_.strings.text(intern_name(id)) == debug_->strings[id];
    return same ? StringId(0u) : intern_text(id);
  }
  StringId intern_name(uint32_t id) {
    std::optional<StringId>& known = names_[id];
    if (!known) known = facts_.strings.intern(demangle(debug_->strings[id]));
    return *known;
  }

  ImageFacts& facts_;
  const ElfFile& elf_;
  const DebugFacts* debug_;
  bool with_code_;
  uint64_t shift_ = 0;                          // link address - file offset of the stretch at hand
  std::vector<std::optional<StringId>> texts_;  // by id in debug_->strings
  std::vector<std::optional<StringId>> names_;
};

/// Functions by symbol that none of the stretches (ascending) touches.
std::vector<Stretch> find_other_functions(const Symbols& symbols,
                                          const std::vector<Stretch>& stretches) {
  std::vector<Stretch> others;
  auto next = stretches.begin();
  for (const Symbol& symbol : symbols.all()) {
    while (next != stretches.end() && next->range.end <= symbol.begin) ++next;
    const bool is_free = next == stretches.end() || next->range.begin >= symbol.end;
    if (is_free && symbol.begin < symbol.end) {
      others.push_back({{symbol.begin, symbol.end}, std::string(symbol.name), true});
    }
  }
  return others;
}

SymbolSource to_source(SymbolTableKind kind) {
  switch (kind) {
    case SymbolTableKind::symtab:
      return SymbolSource::symtab;
    case SymbolTableKind::minidebug:
      return SymbolSource::minidebug;
    case SymbolTableKind::dynsym:
      return SymbolSource::dynsym;
    case SymbolTableKind::none:
      break;
  }
  return SymbolSource::none;
}

std::vector<LinkAddress> to_link_addresses(const ElfFile& elf,
                                           const std::vector<FileOffset>& offsets) {
  std::vector<LinkAddress> addresses;
  addresses.reserve(offsets.size());
  for (const FileOffset offset : offsets)
    if (const auto address = elf.to_link_address(offset)) addresses.push_back(*address);
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

std::optional<DebugReaders> open_debug_readers(const ElfSources& sources, unsigned threads,
                                               ImageFacts& facts) {
  const uint64_t size_bytes = file_with_debug_info(sources).debug_info_bytes();
  if (size_bytes == 0 || sources.names_only) return std::nullopt;
  Result<DebugReaders> readers =
      DebugReaders::open(sources, size_bytes >= kBigDebugInfoBytes ? threads : 1);
  if (readers) return *std::move(readers);
  note(facts, readers.error().message);
  return std::nullopt;
}

void note_what_is_missing(ImageFacts& facts, const ElfSources& sources, bool has_debug,
                          const DebugFacts& debug) {
  if (!has_debug) note(facts, "no debug information");
  const auto alt_link = file_with_debug_info(sources).alt_link();
  if (has_debug && sources.alt == nullptr && alt_link)
    note(facts, "the file that .gnu_debugaltlink names was not found: " + alt_link->path);
  if (debug.missing_split_units > 0)
    note(facts, std::to_string(debug.missing_split_units) + " .dwo files were not found");
  if (debug.damaged_units > 0)
    note(facts, std::to_string(debug.damaged_units) + " units of debug information are damaged");
}

}  // namespace

ImageFacts make_elf_facts(const ElfSources& sources, const std::vector<FileOffset>& offsets,
                          unsigned threads) {
  ImageFacts facts;
  const ElfFile& elf = sources.binary;
  facts.architecture = elf.architecture();
  if (sources.debug) facts.debug_file = sources.debug->path;
  for (const ElfSegment& s : elf.segments())
    facts.segments.push_back({s.begin, s.size_bytes, s.address});

  const Symbols symbols = Symbols::read(elf, sources.debug ? &sources.debug->elf : nullptr);
  facts.symbol_source = to_source(symbols.kind());
  std::optional<DebugReaders> readers = open_debug_readers(sources, threads, facts);

  std::vector<LinkAddress> loose;
  std::vector<Stretch> stretches = find_functions(symbols, to_link_addresses(elf, offsets), loose);
  for (Stretch& s : find_loose_stretches(loose, elf, symbols, readers ? &*readers : nullptr))
    stretches.push_back(std::move(s));
  std::sort(stretches.begin(), stretches.end(),
            [](const Stretch& a, const Stretch& b) { return a.range.begin < b.range.begin; });

  DebugFacts debug;
  if (readers) {
    std::vector<AddressRange> wanted;
    for (const Stretch& s : stretches) wanted.push_back(s.range);
    debug = readers->read(wanted);
  }
  FactWriter writer(facts, elf, readers ? &debug : nullptr, !sources.names_only);
  for (size_t i = 0; i < stretches.size(); ++i)
    writer.write(stretches[i], readers ? &debug.ranges[i] : nullptr);
  if (sources.all_functions) {
    for (const Stretch& one : find_other_functions(symbols, stretches)) writer.write_name(one);
  }
  writer.finish();
  if (sources.names_only) return facts;
  add_block_facts(elf, symbols, facts);
  facts.has_lines = std::any_of(facts.lines.begin(), facts.lines.end(),
                                [](const LineFact& l) { return l.line != 0; });
  if (facts.symbol_source == SymbolSource::none && readers && !facts.functions.empty())
    facts.symbol_source = SymbolSource::dwarf;
  note_what_is_missing(facts, sources, readers.has_value(), debug);
  return facts;
}

}  // namespace culprit

#include "attribute/region_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <span>
#include <string_view>

#include "attribute/source_lines.h"
#include "base/names.h"
#include "base/text.h"
#include "model/region_words.h"

namespace culprit {

namespace {

bool has_word(std::string_view text, std::string_view word) {
  return to_lower(text).find(word) != std::string::npos;
}

/// Whether the kind is the word of a pragma of its own.
bool has_own_pragma(std::string_view kind) {
  constexpr std::string_view kWords[] = {"loop",    "sections", "single",   "master",   "critical",
                                         "ordered", "barrier",  "taskwait", "taskgroup"};
  return std::find(std::begin(kWords), std::end(kWords), kind) != std::end(kWords);
}

/// The lines of `file` that a function's code is of. Code that was inlined there counts as the line
/// that calls it: the function called may stand anywhere in the file.
struct LineRange {
  uint32_t first = 0;  // 0: it has none
  uint32_t last = 0;
};

std::span<const LineFact> lines_of(const ImageFacts& facts, const FunctionFact& function) {
  const auto end = facts.lines.end();
  const auto first =
      std::ranges::lower_bound(facts.lines.begin(), end, function.begin, {}, &LineFact::offset);
  return {first, std::ranges::lower_bound(first, end, function.end, {}, &LineFact::offset)};
}

LineRange find_lines(Attributor& attributor, const FunctionFact& function, StringId file) {
  LineRange range;
  for (const LineFact& line : lines_of(attributor.facts(), function)) {
    const Attribution at = attributor.attribute(line.offset);
    if (at.frames.empty() || at.frames.back().file != file) continue;
    const uint32_t own = at.frames.back().line;
    if (own == 0) continue;
    range.first = range.first == 0 ? own : std::min(range.first, own);
    range.last = std::max(range.last, own);
  }
  return range;
}

/// The last line of a function that is a construct's body.
uint32_t find_last_line(Attributor& attributor, const FunctionFact& function, StringId file,
                        uint32_t first) {
  constexpr uint32_t kLongest = 10'000;  // more is another file's line with this one's name
  const uint32_t last = find_lines(attributor, function, file).last;
  return last > first && last - first < kLongest ? last : first;
}

/// Whether the line begins a construct that has `word` in its pragma.
bool is_pragma(const ImageFacts& facts, StringId file, uint32_t line, std::string_view word) {
  const auto text = find_source_line(facts, file, line);
  return text && has_word(*text, "omp ") && has_word(*text, word) && !has_word(*text, "omp end");
}

/// Likewise of a kind that has a pragma of its own.
bool is_pragma_of(const ImageFacts& facts, StringId file, uint32_t line, std::string_view kind) {
  if (kind == "ordered") return is_pragma(facts, file, line, "omp ordered");  // not "for ordered"
  if (kind == "loop") {
    return is_pragma(facts, file, line, " for") || is_pragma(facts, file, line, " do");
  }
  // A taskloop ends with a taskgroup; masked is the newer word for master.
  return is_pragma(facts, file, line, kind) ||
         (kind == "taskgroup" && is_pragma(facts, file, line, "taskloop")) ||
         (kind == "master" && is_pragma(facts, file, line, "masked"));
}

/// What becomes a jump where it is the last call of its function: it seems to come from where that
/// was called.
bool may_be_a_jump(std::string_view kind) {
  return kind == "taskwait" || kind == "taskgroup";
}

/// The line of a construct's own pragma. Compilers give its call the line of code beside it now and
/// then: if the function has one such pragma that is it, of several the next. A barrier may be that
/// of a loop, and a loop has often the line below its pragma: they are moved from a region's only.
/// nullopt: it is in a function that was called from the line.
std::optional<uint32_t> find_own_pragma(Attributor& attributor, const FunctionFact& function,
                                        StringId file, uint32_t line, std::string_view kind) {
  constexpr uint32_t kMostLines = 10'000;
  const ImageFacts& facts = attributor.facts();
  if (!has_own_pragma(kind) || !find_source_line(facts, file, line)) return line;
  if (is_pragma_of(facts, file, line, kind)) return line;
  const bool may_be_elsewhere = kind != "barrier" && kind != "loop";
  if (!may_be_elsewhere && !is_pragma(facts, file, line, "parallel")) return line;
  const LineRange range = find_lines(attributor, function, file);
  if (range.first == 0 || range.last - range.first > kMostLines) return line;
  std::optional<uint32_t> found;
  size_t count = 0;
  for (uint64_t row = range.first; row <= range.last;
       ++row) {  // the last may be the largest there is
    const auto at = static_cast<uint32_t>(row);
    if (!is_pragma_of(facts, file, at, kind)) continue;
    ++count;
    if (!found || (*found < line && at >= line)) found = at;
  }
  if (count == 1 || (found && *found >= line)) return found;
  return may_be_a_jump(kind) ? std::nullopt : std::optional(line);
}

/// The first code with a line of the function that is a parallel region's body, by the constructs
/// in it: flang gives calls that start regions the line of a declaration, but "solve_..omp_par.1"
/// its own lines.
std::optional<FileOffset> find_body_of_flang(RegionId id, CodeIndex& code) {
  const Profile& profile = code.profile();
  const Region& region = profile.regions[id.value];
  if (profile.strings.text(region.kind) != "parallel") return std::nullopt;
  Attributor* attributor = code.attributor(region.site.image);
  if (attributor == nullptr) return std::nullopt;
  const FunctionFact* around = attributor->attribute(region.site.offset).function;
  const StringTable& strings = attributor->facts().strings;
  if (around == nullptr || !strings.text(around->name).starts_with("_Q")) return std::nullopt;
  for (const Region& inside : profile.regions) {
    if (inside.parent != id || inside.site.image != region.site.image) continue;
    const FunctionFact* body = attributor->attribute(inside.site.offset).function;
    if (body == nullptr || body == around) continue;
    if (strings.text(body->name).find("..omp_par") == std::string::npos) continue;
    for (const LineFact& line : lines_of(attributor->facts(), *body)) {
      if (line.line != 0) return line.offset;
    }
  }
  return std::nullopt;
}

}  // namespace

FoundRegion find_region(RegionId id, CodeIndex& code) {
  FoundRegion found;
  Region region = code.profile().regions[id.value];
  const std::optional<FileOffset> body = find_body_of_flang(id, code);
  if (body) region.site.offset = *body;
  Attributor* attributor = code.attributor(region.site.image);
  if (attributor == nullptr) {
    if (region.site.image != ImageId()) found.place.function = code.unnamed(region.site);
    return found;
  }
  const ImageFacts& facts = attributor->facts();
  const Attribution at = attributor->attribute(region.site.offset);
  if (at.function == nullptr || at.frames.empty()) {
    found.place.function = code.unnamed(region.site);
    return found;
  }
  // Marks of our own header are where they were written, not in the header.
  const auto is_mark = [&](const Frame& one) {
    return one.inlined && facts.strings.text(one.file).ends_with("culprit/region.h");
  };
  size_t level = 0;
  while (level + 1 < at.frames.size() && is_mark(at.frames[level])) ++level;
  // The arguments of the runtime's function may be inlined code, whose line its call has then.
  const std::string& kind = code.profile().strings.text(region.kind);
  if (kind != "user" && kind != "function") {
    const auto is_pragma_line = [&](const Frame& one) {
      return is_pragma_of(facts, one.file, one.line, kind);
    };
    const auto pragma = std::ranges::find_if(at.frames, is_pragma_line);
    if (pragma != at.frames.end()) level = static_cast<size_t>(pragma - at.frames.begin());
    const auto is_of_others = [&](const Frame& one) {
      return one.inlined && is_system_source(facts.strings.text(one.file));
    };
    while (level + 1 < at.frames.size() && is_of_others(at.frames[level])) ++level;
  }
  const Frame& frame = at.frames[level];
  found.place.function = facts.strings.text(at.function->name);
  found.place.file = facts.strings.text(frame.file);
  if (frame.line == 0) return found;
  const std::optional<uint32_t> own =
      find_own_pragma(*attributor, *at.function, frame.file, frame.line, kind);
  uint32_t line = own.value_or(frame.line);
  const bool is_outlined = body || at.function->begin == region.site.offset;
  // The first line of a body may be below its pragma.
  constexpr uint32_t kBelow = 2;
  const bool has_pragma = is_pragma(facts, frame.file, line, kind);
  for (uint32_t above = 1; is_outlined && !has_pragma && above <= kBelow && above < line; ++above) {
    if (!is_pragma(facts, frame.file, line - above, kind)) continue;
    line -= above;
    break;
  }
  const bool is_of_flang = found.place.function.starts_with("_Q");
  const bool is_elsewhere = kind == "parallel" && is_of_flang && !is_outlined &&
                            !is_pragma(facts, frame.file, line, "parallel");
  found.place.first_line = line;
  found.place.lines = own && !is_elsewhere ? LinesAre::construct : LinesAre::function;
  if (const auto text = find_source_line(facts, frame.file, line))
    found.source = std::string(*text);
  if (is_outlined) {
    found.place.last_line = find_last_line(*attributor, *at.function, frame.file, line);
  } else if (region.end.image == region.site.image) {
    const Attribution end = attributor->attribute(region.end.offset);
    const bool fits = !end.frames.empty() && end.frames.front().file == frame.file &&
                      end.frames.front().line >= line;
    if (fits) found.place.last_line = end.frames.front().line;
  }
  return found;
}

const std::string& RegionNames::name(RegionId region) {
  static const std::string kOutside = "[outside regions]";
  if (region.value >= code_.profile().regions.size()) return kOutside;
  names_.resize(code_.profile().regions.size());
  std::string& known = names_[region.value];
  if (known.empty()) known = make_name(region);
  return known;
}

std::string RegionNames::path(RegionId region) {
  const std::vector<Region>& rows = code_.profile().regions;
  std::string text = name(region);
  // A parent is an earlier row, but in a damaged file.
  while (region.value < rows.size() && rows[region.value].parent.value < region.value) {
    region = rows[region.value].parent;
    text += "\n" + name(region);
  }
  return text;
}

std::string RegionNames::make_name(RegionId id) {
  const Profile& profile = code_.profile();
  const Region& region = profile.regions[id.value];
  const std::string& kind = profile.strings.text(region.kind);
  if (kind == region::kNotKnown) return std::string(region::kNotKnown);
  if (kind == region::kWaiting) {
    const bool has_parent = region.parent.value < id.value;
    return fmt::format("waiting: {}", has_parent ? name(region.parent) : "[not known]");
  }
  const std::string& word = profile.strings.text(region.name);
  const RegionPlace place = find_region(id, code_).place;
  std::string where = place.function;
  if (place.first_line != 0) where = fmt::format("{}:{}", base_name(place.file), place.first_line);
  if (kind == "user") return word;
  if (kind == "function") return fmt::format("function {}", place.function);
  std::string text = kind;
  for (const std::string& more : {word, where}) {
    if (!more.empty()) text += " " + more;
  }
  return text;
}

}  // namespace culprit

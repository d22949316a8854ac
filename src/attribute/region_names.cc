#include "attribute/region_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
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
  constexpr std::string_view kWords[] = {"sections", "single",  "master",   "critical",
                                         "ordered",  "barrier", "taskwait", "taskgroup"};
  return std::find(std::begin(kWords), std::end(kWords), kind) != std::end(kWords);
}

/// Where a call is the first of its function, GCC gives it the line of the region's pragma. A line
/// with another pragma is moved to the construct's own, if that follows.
uint32_t find_own_pragma(const ImageFacts& facts, StringId file, uint32_t line,
                         std::string_view kind) {
  constexpr uint32_t kFarthest = 20;
  const auto is_pragma = [&](uint32_t at, std::string_view with) {
    const auto text = find_source_line(facts, file, at);
    return text && has_word(*text, "omp ") && has_word(*text, with);
  };
  if (!has_own_pragma(kind) || !is_pragma(line, "parallel") || is_pragma(line, kind)) return line;
  for (uint32_t at = line + 1; at <= line + kFarthest; ++at)
    if (is_pragma(at, kind)) return at;
  return line;
}

/// The last line of a function that is a construct's body. Code that was inlined there counts as
/// the line that calls it: the function called may stand anywhere in the file.
uint32_t find_last_line(Attributor& attributor, const FunctionFact& function, StringId file,
                        uint32_t first) {
  constexpr uint32_t kLongest = 10'000;  // more is another file's line with this one's name
  uint32_t last = first;
  for (const LineFact& line : attributor.facts().lines) {
    if (line.offset < function.begin || line.offset >= function.end) continue;
    const Attribution at = attributor.attribute(line.offset);
    if (at.frames.empty() || at.frames.back().file != file) continue;
    const uint32_t own = at.frames.back().line;
    if (own > last && own - first < kLongest) last = own;
  }
  return last;
}

}  // namespace

FoundRegion find_region(const Region& region, CodeIndex& code) {
  FoundRegion found;
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
  const Frame& frame = at.frames[level];
  found.place.function = facts.strings.text(at.function->name);
  found.place.file = facts.strings.text(frame.file);
  if (frame.line == 0) return found;
  const uint32_t line =
      find_own_pragma(facts, frame.file, frame.line, code.profile().strings.text(region.kind));
  found.place.first_line = line;
  found.place.lines = LinesAre::construct;
  if (const auto text = find_source_line(facts, frame.file, line))
    found.source = std::string(*text);
  const bool is_outlined = at.function->begin == region.site.offset;
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
  const RegionPlace place = find_region(region, code_).place;
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

// A function's code with its counts: decode each place, give every instruction the
// counts of the addresses in it, group by basic block, and sum by source line.

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "annotate/annotation.h"
#include "annotate/annotation_cpi.h"
#include "attribute/code_index.h"
#include "attribute/find_function.h"
#include "base/names.h"
#include "model/counts.h"
#include "model/event_names.h"
#include "print/event_display.h"
#include "print/values.h"

namespace culprit {

namespace {

using CountsByOffset = std::map<FileOffset, Sums>;

/// The counts of all contexts in [begin, end) of one image.
CountsByOffset counts_within(const Profile& profile, ImageId image, FileOffset begin,
                             FileOffset end) {
  CountsByOffset counts;
  for (const Histogram& histogram : profile.histograms) {
    if (histogram.image != image) continue;
    const auto add = [&](const Location& at, size_t event, const Sum& sum) {
      Sums& sums = counts[at.offset];
      sums.resize(profile.events.size());
      sums[event] += sum;
    };
    for_each_count_within(profile, histogram, begin, end, add);
  }
  return counts;
}

class Annotator {
 public:
  Annotator(CodeIndex& code, const FoundFunction& found, Annotation& annotation)
      : code_(code), found_(found), annotation_(annotation), all_(profile().events.size()) {}

  void annotate() {
    for (const uint32_t row : found_.functions) add_place(row);
    std::sort(annotation_.places.begin(), annotation_.places.end(),
              [](const AnnotatedPlace& a, const AnnotatedPlace& b) {
                const double of_a = a.values[0].value;
                const double of_b = b.values[0].value;
                return of_a != of_b ? of_a > of_b : a.begin < b.begin;
              });
    annotation_.values = to_values(profile().events, all_);
    add_lines();
  }

 private:
  struct LineKey {
    std::string file;
    uint32_t line;
    friend auto operator<=>(const LineKey&, const LineKey&) = default;
  };

  const Profile& profile() const { return code_.profile(); }
  const ImageFacts& facts() { return *code_.facts(found_.image); }
  Attributor& attributor() { return *code_.attributor(found_.image); }

  /// Whether the code at `offset` belongs to what is annotated.
  bool belongs(FileOffset offset) {
    if (!found_.inlined) return true;
    const CodePlace place = attributor().find(offset);
    for (uint32_t row = place.inlined; row != CodePlace::kNone;
         row = attributor().inlined_into(row)) {
      if (facts().strings.text(facts().inlines[row].name) == found_.name) return true;
    }
    return false;
  }

  void add_place(uint32_t row) {
    const FunctionFact& function = facts().functions[row];
    AnnotatedPlace place;
    place.function = facts().strings.text(function.name);
    place.begin = code_.link_address({found_.image, function.begin}).value;
    place.end = place.begin + (function.end - function.begin);
    place_sums_.assign(profile().events.size(), Sum());
    CountsByOffset counts = counts_within(profile(), found_.image, function.begin, function.end);
    std::erase_if(counts, [this](const auto& entry) { return !belongs(entry.first); });

    const Result<Disassembly> decoded =
        code_.disassemble(found_.image, function.begin, function.end);
    if (decoded) {
      add_blocks(*decoded, counts, place);
    } else {
      place.problem = decoded.error().message;
    }
    if (!counts.empty()) add_undecoded(counts, place);  // what no instruction took
    place.values = to_values(profile().events, place_sums_);
    add_sums(all_, place_sums_);
    annotation_.places.push_back(std::move(place));
  }

  /// Takes the counts of each instruction out of `counts`.
  void add_blocks(const Disassembly& decoded, CountsByOffset& counts, AnnotatedPlace& place) {
    for (const Block& block : decoded.blocks) {
      AnnotatedBlock annotated{block.begin.value, block.end.value, {}, {}, {}};
      Sums block_sums(profile().events.size());
      for (size_t i = block.first; i < block.last; ++i) {
        const Instruction& instruction = decoded.instructions[i];
        const FileOffset begin = decoded.to_offset(instruction.address);
        if (!belongs(begin)) continue;
        Sums sums(profile().events.size());
        auto at = counts.lower_bound(begin);
        while (at != counts.end() && at->first - begin < instruction.size) {
          add_sums(sums, at->second);
          at = counts.erase(at);
        }
        add_sums(block_sums, sums);
        annotated.instructions.push_back(
            describe(begin, instruction.address.value, instruction.size, instruction.text, sums));
      }
      if (annotated.instructions.empty()) continue;
      annotated.values = to_values(profile().events, block_sums);
      place.blocks.push_back(std::move(annotated));
    }
  }

  /// Addresses whose code is not in the profile.
  void add_undecoded(const CountsByOffset& counts, AnnotatedPlace& place) {
    AnnotatedBlock annotated{place.begin, place.end, {}, {}, {}};
    Sums block_sums(profile().events.size());
    for (const auto& [offset, sums] : counts) {
      add_sums(block_sums, sums);
      annotated.instructions.push_back(describe(
          offset, code_.link_address({found_.image, offset}).value, 0, std::string(), sums));
    }
    annotated.values = to_values(profile().events, block_sums);
    place.blocks.push_back(std::move(annotated));
  }

  AnnotatedInstruction describe(FileOffset offset, uint64_t address, uint32_t size,
                                const std::string& text, const Sums& sums) {
    AnnotatedInstruction result;
    result.address = address;
    result.size = size;
    result.text = text;
    result.values = to_values(profile().events, sums);
    const CodePlace place = attributor().find(offset);
    const StringTable& strings = facts().strings;
    if (place.line != CodePlace::kNone) {
      const LineFact& line = facts().lines[place.line];
      result.file = strings.text(line.file);
      result.line = line.line;
    }
    for (uint32_t row = place.inlined; row != CodePlace::kNone;
         row = attributor().inlined_into(row)) {
      const InlineFact& call = facts().inlines[row];
      result.inlined.push_back(
          {strings.text(call.name), strings.text(call.call_file), call.call_line});
    }
    std::reverse(result.inlined.begin(), result.inlined.end());
    Sums& of_line = lines_[{result.file, result.line}];
    of_line.resize(profile().events.size());
    add_sums(of_line, sums);
    add_sums(place_sums_, sums);
    return result;
  }

  /// Every line that has code here, and those between them that the profile has the text of.
  void add_lines() {
    std::map<LineKey, std::string> texts;
    for (const SourceFact& source : facts().sources) {
      const std::string& file = facts().strings.text(source.file);
      const auto first = lines_.lower_bound({file, 1});
      if (first == lines_.end() || first->first.file != file) continue;
      const auto after = lines_.upper_bound({file, UINT32_MAX});
      const uint64_t last = std::prev(after)->first.line;
      uint64_t from = first->first.line;
      if (file == annotation_.file && annotation_.line != 0) {
        from = std::min<uint64_t>(from, annotation_.line);
      }
      for (size_t i = 0; i < source.lines.size(); ++i) {
        const uint64_t number = uint64_t{source.first_line} + i;
        if (number < from || number > last) continue;
        texts[{file, static_cast<uint32_t>(number)}] = source.lines[i];
      }
    }
    for (const auto& [key, text] : texts) lines_[key].resize(profile().events.size());
    for (const auto& [key, sums] : lines_) {
      AnnotatedLine line{key.file, key.line, std::nullopt, to_values(profile().events, sums), {}};
      if (const auto text = texts.find(key); text != texts.end()) line.text = text->second;
      annotation_.lines.push_back(std::move(line));
    }
  }

  CodeIndex& code_;
  const FoundFunction& found_;
  Annotation& annotation_;
  std::map<LineKey, Sums> lines_;
  Sums all_;
  Sums place_sums_;
};

void add_others(const FoundFunction& found, Annotation& annotation) {
  constexpr size_t kNamed = 5;
  if (found.others.empty()) return;
  std::string text = "also matches, by --copy N: ";
  for (size_t i = 0; i < std::min(kNamed, found.others.size()); ++i) {
    const FoundFunction::Other& other = found.others[i];
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", other.copy, shorten_name(other.name, 60));
  }
  if (found.others.size() > kNamed) {
    text += fmt::format(" and {} more", found.others.size() - kNamed);
  }
  annotation.remarks.push_back(std::move(text));
}

}  // namespace

Result<Annotation> make_annotation(const Profile& profile, const FactsLookup& lookup,
                                   const AnnotateOptions& options) {
  CodeIndex code(profile, lookup);
  const FunctionFinder finder(code);
  ASSIGN_OR_RETURN(const FoundFunction found,
                   finder.find({options.function, options.module, options.copy}));
  const ImageFacts& facts = *code.facts(found.image);
  const FunctionFact& first = facts.functions[found.functions.front()];
  Annotation annotation;
  annotation.function = found.name;
  annotation.module = code.module(found.image);
  annotation.inlined = found.inlined;
  if (!found.inlined) {
    annotation.file = facts.strings.text(first.file);
    annotation.line = first.line;
  } else {
    annotation.remarks.push_back(
        fmt::format("it has no code of its own: shown where it was inlined, in {} function{}",
                    found.functions.size(), found.functions.size() == 1 ? "" : "s"));
  }
  add_others(found, annotation);
  annotation.event_names = distinct_event_names(profile);
  annotation.totals = to_values(profile.events, total_sums(profile));
  Annotator(code, found, annotation).annotate();
  add_cycles_per_instruction(profile, annotation);
  return annotation;
}

}  // namespace culprit

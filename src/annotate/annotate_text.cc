// A listing for people:
//
//     ./mill 42   2 threads, 600 ms wall, 1.00 s CPU
//     grind   mill.c:9   mill
//     1.30 G cycles, 65.0 % +-3.0 of everything, 650 samples
//
//     Block 1210-1216   1.00 G cycles   76.9 %   500 samples
//      ~cycles  ~share   addr  instruction
//       mill.c:11 | for (;;) n += 1;
//        800 M  61.5 %   1210  addl   $0x1,%eax
//
// Shares in the listing are of the function. Stretches without samples are folded. Profiles of
// two runs have executions and CPI, too (annotation_cpi.h).

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>
#include <type_traits>

#include "annotate/annotate_cells.h"
#include "annotate/annotation.h"
#include "annotate/annotation_cpi.h"
#include "base/names.h"
#include "base/text.h"
#include "print/event_display.h"
#include "print/header_text.h"

namespace culprit {

namespace {

constexpr size_t kGutterWidth = 4;
constexpr size_t kPlaces = 10;      // the costliest places are printed, the others counted
constexpr size_t kFoldedLines = 6;  // longer stretches of lines without samples are folded

class AnnotationText {
 public:
  AnnotationText(const Profile& profile, const Annotation& annotation,
                 const AnnotateOptions& options, const TextStyle& style)
      : profile_(profile),
        annotation_(annotation),
        options_(options),
        style_(style),
        cells_(profile, annotation) {
    for (const AnnotatedLine& line : annotation.lines) {
      if (line.text) sources_.push_back(&line);
    }
  }

  std::string print() {
    print_title();
    if (options_.show_assembly) {
      print_places();
    } else {
      print_lines();
    }
    text_ += "\nShares in the listing are of this function.  ";
    const Provenance provenance =
        profile_.events.empty() ? Provenance::sampled : profile_.events[0].provenance;
    text_ += fmt::format("{} {}", provenance_mark(provenance), provenance_name(provenance));
    text_ += annotation_.executed ? "  = counted in the simulated run\n" : "\n";
    if (options_.show_assembly && is_sampled()) {
      text_ += wrap(
                   "^ skid: samples land a little late; the instruction before may own some. "
                   "The total of a block is firm.",
                   style_.width, 2) +
               "\n";
      if (annotation_.executed) {
        text_ += wrap(
                     "CPI: measured cycles per execution. Of an instruction at most: all samples "
                     "of its own and of the next one, at the upper end of their 95 % interval.",
                     style_.width, 2) +
                 "\n";
      }
    }
    print_legend();
    text_ += print_ledger(profile_.ledger, style_);
    text_ += options_.show_assembly
                 ? print_next(with_file("culprit report --by line", style_),
                              "the hottest lines of all", style_)
                 : print_next(with_file("culprit report --by instruction", style_),
                              "the hottest instructions", style_);
    return std::move(text_);
  }

 private:
  void print_legend() {
    if (!options_.show_assembly || annotation_.legend.empty()) return;
    text_ += wrap("~~ held up, by one or several of: " + annotation_.legend +
                      "; ? unexplained. Cycles an execution, at least and at most, or percent "
                      "of the time there, at most; for: the instruction that was waited for. What "
                      "is not listed is ruled out.",
                  style_.width, 2) +
             "\n";
    if (!annotation_.places.empty() && !annotation_.places.front().executions.empty()) {
      text_ += "  executions: " + annotation_.places.front().executions + "\n";
    }
  }

  /// Whether the first event, which the listing is of, was sampled: else nothing skids.
  bool is_sampled() const {
    return profile_.events.empty() || profile_.events[0].provenance == Provenance::sampled;
  }

  /// One line, cut at the width. `share`: of the function; hot lines have a colour.
  void line(const std::string& content, double share = 0) {
    std::string cut = printable(content);
    if (count_columns(cut) > style_.width) {
      size_t end = 0;
      for (size_t columns = 0; end < cut.size(); ++end) {
        const bool starts = (static_cast<unsigned char>(cut[end]) & 0xc0) != 0x80;
        if (starts && columns++ == style_.width - 2) break;
      }
      cut = cut.substr(0, end) + "..";
    }
    cut.erase(cut.find_last_not_of(' ') + 1);
    constexpr double kHot = 0.1;
    constexpr double kWarm = 0.02;
    const char* const colour = share >= kHot ? "\033[31m" : share >= kWarm ? "\033[33m" : "";
    const bool is_coloured = style_.colour && *colour != '\0';
    text_ += is_coloured ? colour + cut + "\033[0m\n" : cut + "\n";
  }

  double share_of(const std::vector<Value>& values) const {
    const double all = annotation_.values[0].value;
    return all > 0 ? values[0].value / all : 0;
  }

  static std::string place_of(const std::string& file, uint32_t number) {
    if (number == 0) return "(no line)";
    return fmt::format("{}:{}", file.empty() ? "?" : printable(base_name(file)), number);
  }

  std::string summary(const std::vector<Value>& values) const {
    const Value& value = values[0];
    const Value& total = annotation_.totals[0];
    const std::string half = format_half_width(profile_.events[0], value, total);
    const std::string samples =
        is_sampled() ? ", " + format_thousands(value.samples) + " samples" : "";
    return fmt::format("{}, {}{} of everything{}", cells_.display().format_named(value),
                       format_share(value, total), half.empty() ? "" : " +-" + half, samples);
  }

  void print_title() {
    const std::string run = print_run(profile_, style_);
    text_ += run.substr(0, run.find('\n') + 1);  // the rest is in every report
    const std::string where =
        (annotation_.line != 0 ? "   " + place_of(annotation_.file, annotation_.line) : "") +
        "   " + printable(base_name(annotation_.module));
    const size_t room = style_.width - std::min(style_.width - 10, count_columns(where));
    line(shorten_name(annotation_.function, room) + where);
    line(summary(annotation_.values));
    if (annotation_.executed) line(cells_.function());
    for (const std::string& remark : annotation_.remarks) {
      text_ += wrap(printable(remark), style_.width, 2) + "\n";
    }
  }

  void print_places() {
    const size_t shown = std::min(kPlaces, annotation_.places.size());
    for (size_t i = 0; i < shown; ++i) print_place(annotation_.places[i]);
    if (const size_t more = annotation_.places.size() - shown; more > 0) {
      text_ += "\n";
      line(fmt::format("({} more places, with less; all are in --format json)",
                       format_thousands(more)));
    }
  }

  void print_place(const AnnotatedPlace& place) {
    if (annotation_.inlined) {
      text_ += "\n";
      line("Inlined into " + shorten_name(place.function, style_.width - 13));
      line("  " + summary(place.values));
    } else if (annotation_.places.size() > 1) {
      text_ += "\n";
      line(fmt::format("At {:x}-{:x}: {}", place.begin, place.end, summary(place.values)));
    }
    if (!place.problem.empty()) {
      text_ += "\n" + wrap("No assembly: " + printable(place.problem), style_.width, 2) + "\n";
    }
    const size_t address_width = std::max<size_t>(fmt::format("{:x}", place.end).size(), 4);
    const std::vector<size_t> hottest = find_hottest(place.blocks);
    if (options_.hottest_first) {
      for (const size_t block : hottest) print_block(place.blocks[block], address_width);
      print_left_out(place.blocks, hottest);
      return;
    }
    std::vector<bool> is_shown(place.blocks.size());
    for (const size_t block : hottest) is_shown[block] = true;
    for (size_t i = 0; i < place.blocks.size();) {
      if (is_shown[i]) {
        print_block(place.blocks[i++], address_width);
        continue;
      }
      const size_t first = i;
      while (i < place.blocks.size() && !is_shown[i]) ++i;
      print_folded({place.blocks.data() + first, i - first});
    }
  }

  /// Blocks (lines) with counts, those with most first; no more than were asked for.
  template <class Part>
  std::vector<size_t> find_hottest(const std::vector<Part>& parts) const {
    std::vector<size_t> hottest;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!is_empty(parts[i].values)) hottest.push_back(i);
    }
    std::stable_sort(hottest.begin(), hottest.end(), [&](size_t a, size_t b) {
      return parts[a].values[0].value > parts[b].values[0].value;
    });
    if (options_.limit != 0) hottest.resize(std::min(options_.limit, hottest.size()));
    return hottest;
  }

  /// "(12 blocks more, 3.2 %)": what a list by heat leaves out.
  template <class Part>
  void print_left_out(const std::vector<Part>& parts, const std::vector<size_t>& shown) {
    if (shown.size() == parts.size()) return;
    double rest = 0;
    for (const Part& part : parts) rest += share_of(part.values);
    for (const size_t part : shown) rest -= share_of(parts[part].values);
    const size_t more = parts.size() - shown.size();
    text_ += "\n";
    line(fmt::format("({} {}{} more, {:.1f} %)", format_thousands(more),
                     std::is_same_v<Part, AnnotatedBlock> ? "block" : "line", more == 1 ? "" : "s",
                     100 * std::max(0.0, rest)));
  }

  void print_folded(std::span<const AnnotatedBlock> blocks) {
    size_t instructions = 0;
    double share = 0;
    bool is_nothing = true;
    for (const AnnotatedBlock& block : blocks) {
      instructions += block.instructions.size();
      share += share_of(block.values);
      is_nothing = is_nothing && is_empty(block.values);
    }
    text_ += "\n";
    line(fmt::format("Block{} {:x}-{:x}   {} ({} instruction{})", blocks.size() == 1 ? "" : "s",
                     blocks.front().begin, blocks.back().end,
                     is_nothing ? is_sampled() ? "no samples" : "nothing counted"
                                : fmt::format("{:.1f} %", 100 * share),
                     format_thousands(instructions), instructions == 1 ? "" : "s"));
  }

  void print_block(const AnnotatedBlock& block, size_t address_width) {
    text_ += "\n";
    line(fmt::format("Block {:x}-{:x}   {}", block.begin, block.end, cells_.block(block)));
    if (const std::string runs = cells_.runs(block); !runs.empty()) line("  " + runs);
    // The mark of skid takes a column of the gutter.
    line(fmt::format("{}{}{}  instruction", cells_.heading(is_sampled() ? "^" : ""),
                     std::string(gutter_width() - 1, ' '), pad_left("addr", address_width)));
    const AnnotatedInstruction* before = nullptr;
    for (const AnnotatedInstruction& one : block.instructions) {
      print_context(one, before, address_width);
      print_stall(one);
      line(fmt::format("{}{}{}  {}",
                       cells_.row(one.values, one.cpi ? format_cpi(*one.cpi) : "", one.more),
                       gutter(one), pad_left(fmt::format("{:x}", one.address), address_width),
                       one.size == 0 ? "-" : one.text),
           share_of(one.values));
      before = &one;
    }
  }

  /// " dm ": what may have cost most where the samples are, beside the address.
  [[nodiscard]] std::string gutter(const AnnotatedInstruction& one) const {
    if (annotation_.legend.empty()) return std::string(kGutterWidth - 1, ' ');
    const bool has_cause = one.stall && !one.stall->causes.empty();
    const std::string_view letter = has_cause ? one.stall->causes.front().letter : "";
    return fmt::format(" {:<2} ", letter);
  }
  /// Columns between the counts and an address.
  [[nodiscard]] size_t gutter_width() const {
    return kGutterWidth - (annotation_.legend.empty() ? 1 : 0);
  }

  /// "~~ 144 cycles for 13d0: dm 12-144, t 0-80", above what was held up.
  void print_stall(const AnnotatedInstruction& one) {
    if (!one.stall) return;
    const AnnotatedStall& stall = *one.stall;
    constexpr size_t kMostCauses = 4;
    const auto number = [](double value) { return fmt::format("{:.3g}", value); };
    std::string text =
        stall.cycles
            ? fmt::format("  ~~ {} cycles for {:x}: ", number(*stall.cycles), stall.waits_for)
            : fmt::format("  ~~ for {:x}: one of ", stall.waits_for);
    for (size_t i = 0; i < std::min(kMostCauses, stall.causes.size()); ++i) {
      const AnnotatedCause& cause = stall.causes[i];
      text += fmt::format("{}{}", i == 0 ? "" : ", ", cause.letter);
      if (cause.cycles) {
        text += fmt::format(" {}-{}", number(cause.cycles->low), number(cause.cycles->high));
      } else if (cause.most) {
        text += fmt::format(" up to {:.0f} %", 100 * *cause.most);
      }
    }
    if (stall.causes.size() > kMostCauses) {
      text += fmt::format(" and {} more", stall.causes.size() - kMostCauses);
    }
    if (stall.unexplained > 0) {
      text += fmt::format("{}? {}", stall.causes.empty() ? "" : ", ", number(stall.unexplained));
    }
    line(text);
    print_ruled_out(stall);
  }

  /// "     not d2, d3, dm by cache-misses"
  void print_ruled_out(const AnnotatedStall& stall) {
    std::vector<std::pair<std::string, std::string>> by_events;  // events, letters
    for (const AnnotatedCause& cause : stall.ruled_out) {
      const std::string events = fmt::format("{}", fmt::join(cause.bounded_by, ", "));
      if (by_events.empty() || by_events.back().first != events) by_events.push_back({events, ""});
      std::string& letters = by_events.back().second;
      letters += (letters.empty() ? "" : ", ") + std::string(cause.letter);
    }
    std::string text;
    for (const auto& [events, letters] : by_events) {
      text += fmt::format("{} {} by {}", text.empty() ? "     not" : ";", letters, events);
    }
    if (!text.empty()) line(text);
  }

  /// Inlined calls and the source line, where they change.
  void print_context(const AnnotatedInstruction& one, const AnnotatedInstruction* before,
                     size_t address_width) {
    const std::string margin(cells_.width() + gutter_width() + address_width + 2, ' ');
    const bool other_calls =
        before == nullptr ? !one.inlined.empty() : one.inlined != before->inlined;
    if (other_calls) {
      for (const InlineCall& call : one.inlined) {
        const std::string where = " inlined at " + place_of(call.call_file, call.call_line);
        const size_t used = margin.size() + count_columns(where) + 2;
        const size_t room = style_.width > used + 12 ? style_.width - used : 12;
        line(margin + "> " + shorten_name(call.function, room) + where);
      }
      if (one.inlined.empty()) line(margin + "> back in the function itself");
    }
    const bool other_line =
        before == nullptr || before->line != one.line || before->file != one.file || other_calls;
    if (!options_.show_source || !other_line || one.line == 0) return;
    const std::string* source = find_source(one.file, one.line);
    // It needs the room more than the order of columns.
    line("  " + place_of(one.file, one.line) + (source == nullptr ? "" : " | " + trimmed(*source)));
  }

  static std::string trimmed(const std::string& source) {
    const std::string expanded = expand_tabs(source);
    return expanded.substr(std::min(expanded.find_first_not_of(' '), expanded.size()));
  }

  const std::string* find_source(const std::string& file, uint32_t number) const {
    const auto at = std::lower_bound(sources_.begin(), sources_.end(), std::tie(file, number),
                                     [](const AnnotatedLine* line, const auto& wanted) {
                                       return std::tie(line->file, line->line) < wanted;
                                     });
    const bool found = at != sources_.end() && (*at)->file == file && (*at)->line == number;
    return found ? &*(*at)->text : nullptr;
  }

  void print_hottest_lines() {
    const std::vector<size_t> hottest = find_hottest(annotation_.lines);
    text_ += "\n";
    line(fmt::format("{}   source", cells_.heading("")));
    for (const size_t index : hottest) {
      const AnnotatedLine& one = annotation_.lines[index];
      line(fmt::format("{}   {}{}",
                       cells_.row(one.values, one.cpi ? format_cpi(*one.cpi) : "", one.more),
                       place_of(one.file, one.line), one.text ? " | " + trimmed(*one.text) : ""),
           share_of(one.values));
    }
    print_left_out(annotation_.lines, hottest);
  }

  void print_lines() {
    if (options_.hottest_first || options_.limit != 0) {
      print_hottest_lines();
      return;
    }
    std::string file = "\n";  // no file is called so
    for (size_t i = 0; i < annotation_.lines.size();) {
      const AnnotatedLine& one = annotation_.lines[i];
      if (one.file != file) {
        file = one.file;
        text_ += "\n";
        line(file.empty() ? "(no source line known)" : file);
        line(fmt::format("{}   {}  source", cells_.heading(""), pad_left("line", 5)));
      }
      size_t end = i;
      while (end < annotation_.lines.size() && annotation_.lines[end].file == file &&
             is_empty(annotation_.lines[end].values)) {
        ++end;
      }
      if (end - i > kFoldedLines) {
        line(fmt::format("{}({} lines without {})", std::string(cells_.width() + 3 + 5 + 2, ' '),
                         end - i, is_sampled() ? "samples" : "counts"));
        i = end;
        continue;
      }
      for (end = std::max(end, i + 1); i < end; ++i) print_line(annotation_.lines[i]);
    }
  }

  void print_line(const AnnotatedLine& one) {
    line(fmt::format("{}   {}  {}",
                     cells_.row(one.values, one.cpi ? format_cpi(*one.cpi) : "", one.more),
                     pad_left(one.line == 0 ? "-" : std::to_string(one.line), 5),
                     one.text ? expand_tabs(*one.text) : ""),
         share_of(one.values));
  }

  const Profile& profile_;
  const Annotation& annotation_;
  const AnnotateOptions& options_;
  const TextStyle& style_;
  AnnotateCells cells_;
  std::vector<const AnnotatedLine*> sources_;  // with text; by file and line
  std::string text_;
};

}  // namespace

std::string print_annotation_text(const Profile& profile, const Annotation& annotation,
                                  const AnnotateOptions& options, const TextStyle& style) {
  return AnnotationText(profile, annotation, options, style).print();
}

}  // namespace culprit

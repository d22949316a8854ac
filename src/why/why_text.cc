// `why` for people: what ran, the tree of cycles (why_table.h), the verdict, what to change, and
// what else must be said.

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"
#include "base/text.h"
#include "model/engine.h"
#include "model/imported.h"
#include "print/event_display.h"
#include "print/header_text.h"
#include "print/text_table.h"
#include "why/why.h"
#include "why/why_parts.h"
#include "why/why_table.h"

namespace culprit {
namespace {

constexpr size_t kHeadWidth = 62;  // of a piece of advice

class WhyText {
 public:
  WhyText(const Profile& profile, const Template& cpu, const WhyReport& why, const TextStyle& style)
      : profile_(profile), cpu_(cpu), why_(why), style_(style) {}

  std::string print() {
    std::string text = print_run(profile_, style_);
    if (!why_.part.empty()) {
      text += wrap("only " + printable(why_.part) + "; shares are of its cycles", style_.width, 2);
      text += "\n";
    }
    text += wrap("Template: " + describe_template(cpu_), style_.width, 2) + "\n\n";
    text += coloured_heading(print_table(make_why_table(profile_, why_), style_.width));
    text += "\n" + print_below_tree() + print_verdict();
    text += print_advice() + print_waiting();
    text += print_notes();
    text += print_ledger(profile_.ledger, style_);
    return text + next_step();
  }

 private:
  std::string print_below_tree() const {
    std::vector<std::string> facts;
    constexpr double kWorthSaying = 0.001;  // of the unhalted cycles
    const auto is_much = [&](const std::optional<Estimate>& cycles) {
      return cycles && cycles->value > kWorthSaying * unhalted_of(why_);
    };
    if (is_much(why_.tree.overlap)) {
      facts.push_back(fmt::format("Branches overlap by {} cycles (counted in more than one).",
                                  format_si(why_.tree.overlap->value)));
    }
    if (is_much(why_.tree.unexplained)) {
      facts.push_back(fmt::format("{} stalled cycles are in no branch.",
                                  format_si(why_.tree.unexplained->value)));
    }
    const double all = has_measured(why_) ? why_.measured->everything.value
                       : why_.everything  ? why_.everything->value
                                          : 0;
    if (!why_.part.empty() && all > 0) {
      facts.push_back(fmt::format("{:.1f} % of all cycles.", 100 * whole_of(why_) / all));
    }
    if (const std::vector<std::string> nothings = list_next_to_nothing(profile_, why_);
        !nothings.empty()) {
      facts.push_back(fmt::format("Next to nothing: {}.", fmt::join(nothings, ", ")));
    }
    if (!why_.part.empty() && why_.kernel && why_.kernel->share.value > kLeastShownShare) {
      facts.push_back(describe_asked());
    }
    std::string text = wrap(
                           "= counted   ~ sampled   ? modelled: events x a cost   +- half of the "
                           "95 % interval, in points, without the errors of the costs",
                           style_.width, 2) +
                       "\n";
    if (!facts.empty())
      text += wrap(fmt::format("{}", fmt::join(facts, " ")), style_.width, 2) + "\n";
    return text + "\n";
  }

  /// What the kernel does for a part, which is no part of the part's cycles.
  std::string describe_asked() const {
    std::vector<std::string> parts;
    for (const KernelPart& part : why_.kernel->parts) {
      if (part.share.value < kLeastShownShare) break;
      parts.push_back(fmt::format("{} {:.1f} %", part.kind->title, 100 * part.share.value));
    }
    return fmt::format(
        "In the kernel, asked for by it or what it calls: {:.1f} % of all time ({}).",
        100 * why_.kernel->share.value, fmt::join(parts, ", "));
  }

  /// "reads and writes of files (pread64), 41.0 % of the time, most for read_page pager.c:12 (60
  /// %)".
  static std::string describe_work(const KernelPart& part) {
    std::string text = fmt::format("{} in the kernel", part.kind->title);
    const std::string calls = describe_calls(part);
    if (!calls.empty()) text += " (" + calls + ")";
    text += fmt::format(", {:.1f} % of the time", 100 * part.share.value);
    PlacedAdvice place;
    place.function = part.function;
    place.line = part.line;
    place.share = part.place_share;
    const std::string where = describe_place(place);
    return where.empty() ? text : text + "; asked for by " + where;
  }

  /// What the verdict is of: a branch, work of the kernel or of a library, or waiting.
  static std::string describe_subject(const Verdict& verdict) {
    if (verdict.waiting != nullptr) return "it waits";
    if (verdict.library != nullptr) {
      return fmt::format("{}, {:.1f} % of the time, in {} of the C library",
                         verdict.library->kind->title, 100 * verdict.library->share.value,
                         printable(verdict.library->function));
    }
    return verdict.kernel != nullptr ? describe_work(*verdict.kernel)
                                     : printable(verdict.branch->label);
  }

  /// ": with all threads on one CPU it takes 62 % less user time (...)".
  std::string describe_proof(const Verdict& verdict) const {
    for (const PlacedAdvice& one : why_.advice) {
      const bool is_of_it = verdict.branch != nullptr && one.branch == verdict.branch->branch;
      if (is_of_it && one.tried != nullptr) return ": " + describe_tried(*one.tried);
    }
    return "";
  }

  bool is_in_verdict(const TriedChange& tried) const {
    return why_.verdict.certainty == Certainty::firm &&
           describe_proof(why_.verdict) == ": " + describe_tried(tried);
  }

  std::string print_verdict() const {
    const Verdict& verdict = why_.verdict;
    std::string words;
    switch (verdict.certainty) {
      case Certainty::firm:
        words = describe_subject(verdict) + describe_proof(verdict);
        break;
      case Certainty::candidate:
        words = fmt::format("perhaps {}: {}", describe_subject(verdict), verdict.reason);
        break;
      case Certainty::none:
        words = "none: " + verdict.reason + describe_unsure();
    }
    if (verdict.waiting != nullptr) {
      words += verdict.reason.empty() ? ": " : "; ";
      words += describe_idle_time(*why_.waiting, *verdict.waiting);
    }
    return print_labelled("Verdict", words, style_) +
           print_labelled("Basis", describe_basis(profile_, cpu_, why_.tree, why_.measured),
                          style_) +
           "\n";
  }

  /// What would be named if that could be believed; or where the time is, if no cause is known.
  std::string describe_unsure() const {
    const Verdict& verdict = why_.verdict;
    if (verdict.kernel != nullptr) {
      return fmt::format("; {} has most, {:.1f} %", verdict.kernel->kind->title,
                         100 * verdict.kernel->share.value);
    }
    if (verdict.library != nullptr) {
      return fmt::format("; {} has most, {:.1f} %", verdict.library->kind->title,
                         100 * verdict.library->share.value);
    }
    if (verdict.branch != nullptr && verdict.branch->cycles && whole_of(why_) > 0) {
      const double share = verdict.branch->cycles->value / whole_of(why_);
      if (verdict.gain && verdict.gain->expected > share) {
        return fmt::format("; without {} the simulated core saves most, {:.0f} %",
                           printable(verdict.branch->label), 100 * verdict.gain->expected);
      }
      return fmt::format("; {} has most, {}", printable(verdict.branch->label),
                         format_share(why_, verdict.branch->cycles->value));
    }
    if (!why_.hottest) return "";
    const bool is_time = profile_.events.front().unit == Unit::ns;
    return fmt::format("; {} has {:.0f} % of {}",
                       shorten_name(pretty_name(printable(why_.hottest->function)), 60),
                       100 * why_.hottest->share,
                       is_time                    ? "the time"
                       : has_no_cycles(why_.tree) ? "what was counted"
                                                  : "the cycles");
  }

  std::string print_advice() const {
    if (why_.advice.empty()) return "";
    std::string text = pad_right("What to change", kHeadWidth + 2) + "at most\n";
    size_t number = 0;
    for (const PlacedAdvice& one : why_.advice) {
      const std::string where = describe_place(one);
      std::string head = fmt::format("{:3} {}", ++number, printable(one.label));
      if (!where.empty()) head += ": " + where;
      text +=
          pad_right(elide_middle(head, kHeadWidth), kHeadWidth + 2) + describe_worth(one) + "\n";
      std::string words = describe_gain(one) + describe_callers(one) + describe_loop(one);
      if (!one.here.empty()) words += "Here: " + printable(one.here) + " ";
      words += printable(one.problem) + " ";
      const size_t same = find_same_advice(number - 1);
      words += same == number - 1 ? printable(one.advice) : fmt::format("As {}.", same + 1);
      text += indented(words);
    }
    return text + "\n";
  }

  /// The first piece that gives the same advice.
  size_t find_same_advice(size_t number) const {
    const auto same = [&](const PlacedAdvice& one) {
      return one.advice == why_.advice[number].advice;
    };
    return static_cast<size_t>(std::ranges::find_if(why_.advice, same) - why_.advice.begin());
  }

  /// "3.05 G  75 %", or "3.05 G  60-75 %" where the model lacks some of what was measured.
  static std::string describe_worth(const PlacedAdvice& one) {
    const std::string least = fmt::format("{:.0f}", 100 * one.at_most);
    const std::string most = fmt::format("{:.0f}", 100 * one.upper_end);
    return fmt::format("{}  {} %", one.cycles.value > 0 ? format_si(one.cycles.value) : "-",
                       least == most ? least : least + "-" + most);
  }

  [[nodiscard]] std::string describe_gain(const PlacedAdvice& one) const {
    if (!one.gain) return "";
    const std::string gain =
        fmt::format("{:.0f} % less {} ({:.0f} to {:.0f} %)", 100 * one.gain->expected,
                    why_.part.empty() ? "time" : "of this part's time", 100 * one.gain->low,
                    100 * one.gain->high);
    if (one.tried == nullptr) return fmt::format("Expected: {}. ", gain);
    return fmt::format("Measured: {}, {}, in {} pairs of runs. ", gain, one.tried->kind->change,
                       one.tried->pairs);
  }

  /// Of loops that look for something, or move what a call asks for: others run as often as the
  /// program says.
  static std::string describe_loop(const PlacedAdvice& one) {
    if (!one.loop || (!one.loop->is_search && one.callers.empty())) return "";
    const std::string line = one.loop->line.empty() ? "" : " at " + printable(one.loop->line);
    return fmt::format(
        "Its loop{} makes {} rounds each time that it is entered, {} times: if what is done there "
        "needs fewer (shorter probes, no search from the start), that saves more. ",
        line, format_si(one.loop->rounds), format_si(one.loop->entries));
  }

  /// "Called by pack pack.c:42 (90 % of the calls), main pack.c:60 (10 %). "
  static std::string describe_callers(const PlacedAdvice& one) {
    std::vector<std::string> callers;
    for (const Caller& caller : one.callers) {
      PlacedAdvice place;
      place.function = caller.function;
      place.line = caller.line;
      place.share = caller.share;
      std::string words = describe_place(place);
      if (callers.empty()) words.insert(words.size() - 1, " of its calls");
      callers.push_back(std::move(words));
    }
    return callers.empty() ? "" : fmt::format("Called by {}. ", fmt::join(callers, ", "));
  }

  std::string indented(const std::string& words) const {
    return wrap("    " + words, style_.width, 4) + "\n";
  }

  /// "Time   of the threads: 31 % on CPU, 64 % waiting (sleep 60 %, in pace; ...), 5 % preempted".
  std::string print_waiting() const {
    if (!why_.waiting) return print_idle_wall();
    if (!(why_.waiting->whole_ns() > 0)) return "";
    return print_labelled("Time", describe_waiting(*why_.waiting), style_);
  }

  /// For how long others had all CPUs, at least: what they used beyond all CPUs but one.
  double find_kept_off(const Run& run) const {
    if (!run.others.other_programs_ns || !run.others.stolen_ns) return 0;
    const auto used_ns = static_cast<double>(*run.others.other_programs_ns + *run.others.stolen_ns);
    const double but_one_ns =
        (profile_.machine.cpus_online - 1.0) * static_cast<double>(run.duration_ns);
    return std::max(0.0, used_ns - but_one_ns);
  }

  /// A program that hardly runs: what it waits for is another question.
  std::string print_idle_wall() const {
    constexpr double kMostOfTheTime = 0.7;
    constexpr int64_t kLongEnoughNs = 50'000'000;
    if (!why_.part.empty() || profile_.runs.empty()) return "";
    const Run& run = profile_.runs.front();
    if (!run.cpu_time_ns || is_simulated(profile_, run) || run.duration_ns < kLongEnoughNs)
      return "";
    const double wall_ns = static_cast<double>(run.duration_ns);
    const double ratio = static_cast<double>(*run.cpu_time_ns) / wall_ns;
    if (ratio + find_kept_off(run) / wall_ns > kMostOfTheTime) return "";
    return print_labelled("Time",
                          fmt::format("it ran for {:.0f} % of its wall time: culprit record "
                                      "--off-cpu says whether it waits, and for what",
                                      100 * ratio),
                          style_);
  }

  std::string print_notes() const {
    std::string text;
    for (const RuleResult& rule : why_.rules) {
      if (!rule.is_broken) continue;
      text += print_labelled(
          "Check",
          fmt::format("{}: {} against {}, {:.0f} % apart. {}", printable(rule.rule->name),
                      format_si(rule.left.value), format_si(rule.right.value),
                      100 * rule.difference, printable(rule.rule->meaning)),
          style_);
    }
    std::string label = "Missing";
    for (const std::string& sentence : describe_missing(profile_, why_.tree)) {
      text += print_labelled(label, sentence, style_);
      label.clear();
    }
    for (const TriedChange& tried : why_.tried) {
      if (!is_in_verdict(tried)) text += print_labelled("Tried", describe_tried(tried), style_);
    }
    for (const std::string& remark : why_.remarks) {
      text += print_labelled("Note", printable(remark), style_);
    }
    if (!why_.other_events.empty()) {
      text += print_labelled("Beside",
                             printable(fmt::format("events that are not in the template: {}",
                                                   fmt::join(why_.other_events, ", "))),
                             style_);
    }
    return text;
  }

  std::string next_step() const {
    const bool has_cycles = why_.tree.unhalted.cycles && why_.tree.unhalted.cycles->value != 0;
    // Who sleeps all the time may have no sample, and is known to sleep.
    if (!has_cycles && why_.verdict.waiting == nullptr) {
      if (is_imported(profile_))
        return print_next(with_file("culprit report", style_), "what it has", style_);
      if (cpu_.is_simulated) {
        return print_next("culprit record --engine timer+simulate ./program",
                          "its cycles, measured and modelled", style_);
      }
      return print_next("culprit doctor", "no cycles were counted: what works here", style_);
    }
    if (cpu_.is_simulated && !why_.measured) {
      return print_next("culprit record --engine timer+simulate ./program",
                        "measured time beside the model", style_);
    }
    if (why_.measured && why_.part.empty() && why_.measured->samples < kLeastSamples) {
      return print_next("culprit record --engine timer+simulate -F 20000 ./program",
                        "more samples; so does a longer run", style_);
    }
    if (why_.verdict.waiting != nullptr) {
      return print_next(with_file("culprit report --off-cpu", style_), "where it waits", style_);
    }
    const bool is_of_time = is_bare(why_) && !cpu_.is_simulated && cpu_.name.empty();
    if (is_of_time && why_.part.empty() && why_.verdict.certainty != Certainty::firm &&
        !is_imported(profile_)) {
      return print_next("culprit record --engine timer+simulate ./program",
                        "what its user code waits for", style_);
    }
    for (const PlacedAdvice& one : why_.advice) {
      if (one.words.empty()) continue;
      return print_next(with_file("culprit annotate " + one.words, style_),
                        "its source and assembly", style_);
    }
    if (profile_.histograms.empty()) {
      return print_next("culprit record --template auto ./program", "where these cycles are",
                        style_);
    }
    if (why_.options.filters.empty()) {
      return print_next(with_file("culprit report", style_), "which functions have these cycles",
                        style_);
    }
    return print_next(with_file("culprit why", style_), "the whole profile", style_);
  }

  std::string coloured_heading(const std::string& table) const {
    if (!style_.colour) return table;
    const size_t end = table.find('\n');
    return "\x1b[1m" + table.substr(0, end) + "\x1b[0m" + table.substr(end);
  }

  const Profile& profile_;
  const Template& cpu_;
  const WhyReport& why_;
  const TextStyle& style_;
};

}  // namespace

std::string print_why_text(const Profile& profile, const Template& cpu, const WhyReport& why,
                           const TextStyle& style) {
  return WhyText(profile, cpu, why, style).print();
}

}  // namespace culprit

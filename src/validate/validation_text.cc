#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"
#include "validate/validation.h"

namespace culprit {
namespace {

std::string describe_range(const EventVerdict& one) {
  if (one.most > 1e15) return fmt::format("{:.4g} or more", one.least);
  return fmt::format("{:.4g} to {:.4g}", one.least, one.most);
}

size_t count(const FamilyVerdict& family, CountVerdict verdict, bool is_caused) {
  return static_cast<size_t>(
      std::count_if(family.events.begin(), family.events.end(), [&](const EventVerdict& one) {
        return one.verdict == verdict && one.is_caused() == is_caused;
      }));
}

std::string describe_penalty(const FamilyVerdict& family) {
  if (!family.penalty) return "";
  return fmt::format("  {} {:.3g}", printable(family.family.costs), *family.penalty);
}

std::string print_family(const FamilyVerdict& family) {
  const size_t wrong =
      count(family, CountVerdict::wrong, true) + count(family, CountVerdict::wrong, false);
  return fmt::format(
      "{:<18} {:>9} {:>6} {:>5} {:>6}{}\n    {}\n", printable(family.family.name),
      family.cycles_per_round ? fmt::format("{:.4g}", *family.cycles_per_round) : "-",
      count(family, CountVerdict::right, true), count(family, CountVerdict::right, false), wrong,
      describe_penalty(family), printable(family.family.what));
}

std::string print_wrong(const FamilyVerdict& family) {
  std::string text;
  for (const EventVerdict& one : family.events) {
    if (one.verdict != CountVerdict::wrong) continue;
    const std::string whose = one.event->event == one.event->quantity
                                  ? ""
                                  : fmt::format(" ({})", printable(one.event->quantity));
    text +=
        fmt::format("wrong: {}{} on {}: {:.4g} a round, {} expected\n", printable(one.event->event),
                    whose, family.family.name, *one.counted.per_round, describe_range(one));
  }
  if (!family.twice.empty()) {
    text += fmt::format(
        "counted twice: {} is charged {:.4g} cycles a round of {}, which takes {:.4g}\n",
        printable(family.twice), family.charged_cycles, family.family.name,
        *family.cycles_per_round);
  }
  return text;
}

std::string print_event(const EventSummary& summary) {
  const std::string remark =
      summary.not_counted == 0 ? "" : "not counted: " + printable(summary.reason);
  return fmt::format("{:<36} {:>6} {:>5} {:>6}{}{}\n", printable(summary.event->event),
                     summary.caused_right, summary.zero_right, summary.wrong,
                     remark.empty() ? "" : "  ", remark);
}

/// Those that some kernel causes, or that were not counted; the others only as how many they are.
std::string print_events(const std::vector<EventSummary>& summaries) {
  std::string text =
      fmt::format("\n{:<36} {:>6} {:>5} {:>6}\n", "event", "caused", "zero", "wrong");
  size_t zeros = 0;
  size_t open = 0;
  for (const EventSummary& summary : summaries) {
    if (summary.caused_right + summary.wrong + summary.not_counted != 0) {
      text += print_event(summary);
    } else {
      ++(summary.zero_right != 0 ? zeros : open);
    }
  }
  if (zeros != 0) {
    text += fmt::format("{} more, which none of these kernels causes, were not counted anywhere\n",
                        zeros);
  }
  if (open != 0) text += fmt::format("{} more, of which these kernels tell nothing\n", open);
  return text;
}

}  // namespace

bool Validation::is_right() const {
  size_t right = 0;
  for (const FamilyVerdict& family : families) {
    if (!family.twice.empty()) return false;
    for (const EventVerdict& one : family.events) {
      if (one.verdict == CountVerdict::wrong) return false;
      right += one.verdict == CountVerdict::right && one.is_caused() ? 1 : 0;
    }
  }
  return right != 0;
}

std::string print_validation(const Validation& validation) {
  const std::string of = validation.template_name.empty()
                             ? std::string("events that the kernel names")
                             : "template " + printable(validation.template_name);
  std::string text = validation.machine_model.empty()
                         ? fmt::format("{} on {} ({})\n", of, printable(validation.cpu_model),
                                       printable(validation.cpu_id))
                         : fmt::format("{}, machine {}\n", of, printable(validation.machine_model));
  text += fmt::format("\n{:<18} {:>9} {:>6} {:>5} {:>6}  {}\n    {}\n", "kernel", "cycles",
                      "caused", "zero", "wrong", "one costs, in cycles", "a round");
  for (const FamilyVerdict& family : validation.families) text += print_family(family);
  text += print_events(summarize_events(validation.families));
  std::string wrong;
  for (const FamilyVerdict& family : validation.families) wrong += print_wrong(family);
  if (!wrong.empty()) return text + "\n" + wrong;
  return text + (validation.is_right() ? "\nEach event was counted as its kernels cause it.\n"
                                       : "\nNothing that a kernel causes could be counted.\n");
}

}  // namespace culprit

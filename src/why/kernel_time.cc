#include "why/kernel_time.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>

#include "attribute/code_index.h"
#include "base/names.h"
#include "base/text.h"
#include "model/counts.h"
#include "model/engine.h"
#include "why/own_code.h"

namespace culprit {
namespace {

/// What time is told by: a clock, else cycles.
std::optional<size_t> find_time_event(const Profile& profile) {
  std::optional<size_t> cycles;
  for (size_t event = 0; event < profile.events.size(); ++event) {
    const Event& one = profile.events[event];
    if (one.provenance != Provenance::sampled) continue;
    if (one.unit == Unit::ns) return event;
    const std::string& name = profile.strings.text(one.name);
    if (!cycles && (one.unit == Unit::cycles || name.starts_with("cycles"))) cycles = event;
  }
  return cycles;
}

/// Repairs of programs that many use, told by the functions and files that ask.
struct KnownProgram {
  std::string_view part;  // of the name of a function or file
  std::string_view kind;
  std::string_view hint;
};
constexpr KnownProgram kKnownPrograms[] = {
    {"sqlite", "files",
     "SQLite: PRAGMA temp_store=memory keeps sorts and temporary tables out of files; PRAGMA "
     "cache_size and mmap_size read less; one transaction around many changes."},
    {"sqlite", "flushes", "SQLite: one transaction around many changes; PRAGMA journal_mode=wal."},
    {"_IO_", "files", "C streams have a buffer of 4 KiB here: setvbuf gives them a larger one."},
};

struct AskingPlace {
  double value = 0;
  uint64_t samples = 0;
  std::map<std::string, double> lines;
};

struct KindSums {
  double value = 0;
  uint64_t samples = 0;
  std::map<std::string_view, double> calls;
  std::map<std::string, AskingPlace> places;
  std::map<std::string_view, double> hints;
};

class KernelSums {
 public:
  KernelSums(const Profile& profile, const FactsLookup& facts, const std::vector<Filter>& filters)
      : profile_(profile), code_(profile, facts), filters_(filters) {}

  bool is_kernel(ImageId image) const { return find_code_owner(code_, image) == CodeOwner::kernel; }

  void add_stack(const std::vector<Location>& places, double value, uint64_t samples) {
    if (places.empty() || !is_kernel(places.front().image)) return;
    if (!is_on_stack(filters_, code_, places)) return;
    std::vector<std::string_view> kernel;
    std::string function;
    std::string line;
    std::string first_library;
    const KnownProgram* known = nullptr;
    for (const Location& place : places) {
      const CodeOwner owner = find_code_owner(code_, place.image);
      const std::vector<Frame> frames = code_.frames(place);
      for (const Frame& frame : frames) {
        const std::string_view name = text(place.image, frame.function);
        if (owner == CodeOwner::kernel) {
          kernel.push_back(name);
          continue;
        }
        if (known == nullptr) known = find_known(place.image, name);
        if (owner == CodeOwner::library && first_library.empty()) first_library = name;
        if (owner != CodeOwner::program || !function.empty()) continue;
        function = name;
        if (frame.line != 0) {
          line = fmt::format("{}:{}", base_name(text(place.image, frame.file)), frame.line);
        }
      }
      if (owner == CodeOwner::program && frames.empty() && function.empty()) {
        function = code_.unnamed(place);
      }
    }
    const KernelRequest request = find_kernel_request(kernel);
    KindSums& sums = kinds_[request.kind];
    sums.value += value;
    sums.samples += samples;
    if (!request.call.empty()) sums.calls[request.call] += value;
    AskingPlace& asking = sums.places[function.empty() ? first_library : function];
    asking.value += value;
    asking.samples += samples;
    if (!line.empty()) asking.lines[line] += value;
    if (known != nullptr && known->kind == request.kind->key) sums.hints[known->hint] += value;
  }

  /// Faults whose memory the stack does not tell are of the kind of all others at their place.
  void join_faults() {
    const auto unknown = kinds_.find(&kernel_kind("page_faults"));
    if (unknown == kinds_.end()) return;
    for (auto& [function, place] : unknown->second.places) {
      KindSums* only = nullptr;
      size_t found = 0;
      for (const std::string_view key : {"fresh_memory", "mapped_files", "copied_pages"}) {
        const auto kind = kinds_.find(&kernel_kind(key));
        if (kind == kinds_.end() || !kind->second.places.contains(function)) continue;
        only = &kind->second;
        ++found;
      }
      if (found != 1) continue;
      AskingPlace& to = only->places[function];
      to.value += place.value;
      for (const auto& [line, value] : place.lines) to.lines[line] += value;
      for (KindSums* const sums : {only, &unknown->second}) {
        const double sign = sums == only ? 1 : -1;
        sums->value += sign * place.value;
        sums->calls[kPageFault] += sign * place.value;
      }
      only->samples += place.samples;
      unknown->second.samples -= place.samples;
      place = {};
    }
  }

  /// Parts of a whole of `all`, most first.
  [[nodiscard]] std::vector<KernelPart> list(double all) const {
    std::vector<KernelPart> parts;
    for (const auto& [kind, sums] : kinds_) {
      if (sums.samples == 0) continue;
      KernelPart& part = parts.emplace_back();
      part.kind = kind;
      part.samples = sums.samples;
      part.share.value = sums.value / all;
      part.share.standard_error =
          part.share.value / std::sqrt(static_cast<double>(std::max<uint64_t>(1, sums.samples)));
      part.calls = list_shares(sums.calls, sums.value);
      name_place(sums, part);
      for (const auto& [hint, value] : sums.hints) {
        if (value > 0.5 * sums.value) part.hint = hint;
      }
    }
    std::ranges::sort(parts, std::greater(),
                      [](const KernelPart& part) { return part.share.value; });
    return parts;
  }

 private:
  std::string_view text(ImageId image, StringId word) {
    const ImageFacts* const facts = code_.facts(image);
    return facts == nullptr ? std::string_view() : std::string_view(facts->strings.text(word));
  }

  const KnownProgram* find_known(ImageId image, std::string_view function) const {
    const std::string module = base_name(code_.module(image));
    for (const KnownProgram& known : kKnownPrograms) {
      if (function.find(known.part) != function.npos || module.find(known.part) != module.npos) {
        return &known;
      }
    }
    return nullptr;
  }

  static std::vector<NamedShare> list_shares(const std::map<std::string_view, double>& sums,
                                             double whole) {
    std::vector<NamedShare> shares;
    for (const auto& [name, value] : sums) shares.push_back({std::string(name), value / whole});
    std::ranges::sort(shares, std::greater(), &NamedShare::share);
    return shares;
  }

  static void name_place(const KindSums& sums, KernelPart& part) {
    double most = 0;
    for (const auto& [function, place] : sums.places) {
      if (function.empty() || place.value <= most) continue;
      most = place.value;
      part.function = function;
      part.place_share = place.value / sums.value;
      double most_of_line = 0;
      part.line.clear();
      for (const auto& [line, value] : place.lines) {
        if (value <= most_of_line) continue;
        most_of_line = value;
        part.line = line;
      }
    }
  }

  const Profile& profile_;
  mutable CodeIndex code_;
  const std::vector<Filter>& filters_;
  std::map<const KernelKind*, KindSums> kinds_;
};

/// Adds the stacks of `counts`; false: there are none of the event.
bool add_stacks(const Profile& profile, const std::vector<StackCount>& counts, size_t event,
                KernelSums& sums) {
  bool has_any = false;
  for (const StackCount& count : counts) {
    if (count.cell.event.value != event || count.stack.value >= profile.stacks.size()) continue;
    has_any = true;
    sums.add_stack(stack_locations(profile, count.stack),
                   static_cast<double>(count.cell.value) * profile.events[event].scale,
                   count.cell.samples);
  }
  return has_any;
}

}  // namespace

std::optional<KernelTime> find_kernel_time(const Profile& profile, const FactsLookup& facts,
                                           const std::vector<Filter>& filters) {
  const std::optional<size_t> event = find_time_event(profile);
  if (!event || !are_of_code(filters)) return std::nullopt;
  KernelTime time;
  double all = 0;
  KernelSums sums(profile, facts, filters);
  KernelSums leaves(profile, facts, filters);
  bool has_kernel = false;
  for (const Histogram& histogram : profile.histograms) {
    const bool is_kernel = leaves.is_kernel(histogram.image);
    for_each_count(profile, histogram, [&](const Location& place, size_t of, const Sum& sum) {
      if (of != *event) return;
      const Value value = to_value(profile.events[of], sum);
      all += value.value;
      time.samples += value.samples;
      if (!is_kernel) return;
      has_kernel = true;
      leaves.add_stack({place}, value.value, value.samples);
    });
  }
  if (!has_kernel || !(all > 0)) return std::nullopt;
  time.has_stacks = add_stacks(profile, profile.kernel_stacks, *event, sums) ||
                    add_stacks(profile, profile.stack_counts, *event, sums);
  if (!time.has_stacks && !filters.empty()) return std::nullopt;
  sums.join_faults();
  time.parts = time.has_stacks ? sums.list(all) : leaves.list(all);
  uint64_t samples = 0;
  for (const KernelPart& part : time.parts) {
    time.share.value += part.share.value;
    samples += part.samples;
  }
  time.share.standard_error =
      time.share.value / std::sqrt(static_cast<double>(std::max<uint64_t>(1, samples)));
  if (!profile.runs.empty() && !is_simulated(profile, profile.runs.front())) {
    time.use = profile.runs.front().use;
    const std::optional<int64_t>& cpu = profile.runs.front().cpu_time_ns;
    if (cpu) time.cpu_s = static_cast<double>(*cpu) * 1e-9;
  }
  return time;
}

std::string describe_calls(const KernelPart& part) {
  constexpr size_t kMostCalls = 3;
  constexpr double kLeast = 0.05;
  std::vector<std::string> words;
  for (const NamedShare& call : part.calls) {
    if (call.name == kPageFault || call.name == kInterrupt) continue;  // the title says so
    if (words.size() == kMostCalls || call.share < kLeast) break;
    constexpr double kAll = 0.995;
    words.push_back(call.share > kAll
                        ? printable(call.name)
                        : fmt::format("{} {:.0f} %", printable(call.name), 100 * call.share));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string list_calls(const KernelPart& part) {
  constexpr size_t kMostCalls = 2;
  constexpr double kLeast = 0.05;
  std::vector<std::string> words;
  for (const NamedShare& call : part.calls) {
    if (words.size() == kMostCalls || call.share < kLeast) break;
    if (call.name != kPageFault && call.name != kInterrupt) words.push_back(printable(call.name));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

namespace {

std::string describe_transfers(const std::optional<int64_t>& calls,
                               const std::optional<int64_t>& bytes, std::string_view name) {
  constexpr int64_t kFew = 100;
  if (!calls || !bytes || *calls < kFew) return "";
  return fmt::format("{} {} of {} on average", format_thousands(static_cast<uint64_t>(*calls)),
                     name, format_bytes(static_cast<uint64_t>(*bytes / *calls)));
}

}  // namespace

std::string describe_use(const KernelTime& time, const KernelPart& part) {
  const ResourceUse& use = time.use;
  std::vector<std::string> words;
  const auto add = [&](std::string text) {
    if (!text.empty()) words.push_back(std::move(text));
  };
  const std::string_view kind = part.kind->key;
  if (kind == "files" || kind == "pipes" || kind == "terminals" || kind == "network" ||
      kind == "copying") {
    add(describe_transfers(use.read_calls, use.read_bytes, "reads"));
    add(describe_transfers(use.write_calls, use.written_bytes, "writes"));
  }
  const bool is_of_faults = kind == "fresh_memory" || kind == "mapped_files" ||
                            kind == "copied_pages" || kind == "page_faults" ||
                            kind == "memory_returned";
  if (is_of_faults && use.minor_faults) {
    add(format_thousands(static_cast<uint64_t>(*use.minor_faults)) + " page faults");
  }
  if (is_of_faults && use.major_faults && *use.major_faults > 0) {
    add(format_thousands(static_cast<uint64_t>(*use.major_faults)) + " of them from disk");
  }
  return words.empty() ? "" : fmt::format("the whole run: {}", fmt::join(words, ", "));
}

}  // namespace culprit

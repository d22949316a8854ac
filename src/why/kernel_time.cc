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
    {"tzset", "file_names",
     "Time zones: where TZ is not set, glibc asks for /etc/localtime at each localtime(), mktime() "
     "and strftime(); TZ=:/etc/localtime in the environment reads it once."},
    {"tz_convert", "file_names",
     "Time zones: where TZ is not set, glibc asks for /etc/localtime at each localtime(); "
     "TZ=:/etc/localtime in the environment reads it once, localtime_r() does, too."},
    {"systrim", "memory_returned",
     "malloc trims its heap at each free of its top and grows it again: M_TRIM_THRESHOLD and "
     "M_TOP_PAD (GLIBC_TUNABLES glibc.malloc.trim_threshold, glibc.malloc.top_pad) keep it."},
    {"_IO_", "files", "C streams have a buffer of 4 KiB here: setvbuf gives them a larger one."},
};

/// Code that asks for one thing: the innermost function of the program's file (a lock, in a
/// header); and who of the program's own sources does so by it.
struct AskingPlace {
  double value = 0;
  uint64_t samples = 0;
  std::map<std::pair<std::string, std::string>, double> owners;  // by function and line
};

struct KindSums {
  double value = 0;
  uint64_t samples = 0;
  std::map<std::string_view, double> calls;
  std::map<std::string, AskingPlace> places;
  std::map<std::string_view, double> hints;
  std::map<std::string, double> entries;  // by the library's function that enters the kernel
  double copied = 0;
  double file_cache = 0;
  double around = 0;
  uint64_t around_samples = 0;
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
    std::string asks;
    std::string first_library;
    std::string entry;
    const KnownProgram* known = nullptr;
    size_t kernel_places = 0;
    for (const Location& place : places) {
      const CodeOwner owner = find_code_owner(code_, place.image);
      const std::vector<Frame> frames = code_.frames(place);
      if (owner == CodeOwner::kernel) ++kernel_places;
      for (const Frame& frame : frames) {
        const std::string_view name = text(place.image, frame.function);
        if (owner == CodeOwner::kernel) {
          kernel.push_back(name);
          continue;
        }
        // The last of the frames of the first place in user mode is the function that was compiled.
        const bool is_entry = owner == CodeOwner::library && &place == &places[kernel_places];
        if (is_entry) entry = name;
        if (known == nullptr) known = find_known(place.image, name);
        if (owner == CodeOwner::library && first_library.empty()) first_library = name;
        if (owner == CodeOwner::program && asks.empty()) asks = name;
      }
    }
    const KernelRequest request = find_kernel_request(kernel);
    KindSums& sums = kinds_[request.kind];
    sums.value += value;
    sums.samples += samples;
    if (!request.call.empty()) sums.calls[request.call] += value;
    OwnPlace own = find_own_place(code_, places);
    if (own.function.empty()) own.function = first_library;
    AskingPlace& asking = sums.places[asks.empty() ? own.function : asks];
    asking.value += value;
    asking.samples += samples;
    asking.owners[{own.function, own.line}] += value;
    if (!entry.empty() && request.call != kPageFault && request.call != kInterrupt) {
      sums.entries[entry] += value;
    }
    if (known != nullptr && known->kind == request.kind->key) sums.hints[known->hint] += value;
    if (kernel.empty()) return;
    if (is_copying(kernel.front())) sums.copied += value;
    if (is_of_file_cache(kernel.front())) sums.file_cache += value;
  }

  /// Faults whose memory the stack does not tell are of the kind of all others at their place; and
  /// so is what enters and leaves the kernel, whose stack does not tell the call, and a read or
  /// write before it has come to a file, a pipe or a socket.
  void join_unknown() {
    constexpr double kAll = 1 - 1e-9;
    constexpr double kNearlyAll = 0.9;
    join("page_faults", kAll, [](const KernelKind& kind) { return is_of_fresh_pages(kind.key); });
    join("transfers", kNearlyAll, [](const KernelKind& kind) {
      return kind.key == "files" || kind.key == "pipes" || kind.key == "network" ||
             kind.key == "terminals";
    });
    take_for_files();
    join("calls", kNearlyAll, [](const KernelKind& kind) {
      return !is_of_fresh_pages(kind.key) && kind.key != "page_faults" &&
             kind.key != "interrupts" && kind.key != "other" && kind.key != "calls";
    });
  }

  /// Adds the time in user mode of the functions by which the C library enters the kernel.
  void add_around(const Location& place, const Value& value) {
    if (find_code_owner(code_, place.image) != CodeOwner::library) return;
    const std::vector<Frame> frames = code_.frames(place);
    if (frames.empty()) return;
    const std::string name(text(place.image, frames.back().function));
    KindSums* most = nullptr;
    double most_value = 0;
    for (auto& [kind, sums] : kinds_) {
      const auto entry = sums.entries.find(name);
      if (entry == sums.entries.end() || entry->second <= most_value) continue;
      most = &sums;
      most_value = entry->second;
    }
    if (most == nullptr) return;
    most->around += value.value;
    most->around_samples += value.samples;
  }

  /// Parts of a whole of `all`, most first.
  [[nodiscard]] std::vector<KernelPart> list(double all) const {
    std::vector<KernelPart> parts;
    for (const auto& [kind, sums] : kinds_) {
      if (sums.samples == 0) continue;
      KernelPart& part = parts.emplace_back();
      part.kind = kind;
      part.samples = sums.samples;
      part.share = make_share(sums.value, sums.samples, all);
      double known = 0;  // of these the calls are known
      for (const auto& [call, value] : sums.calls) known += value;
      part.calls = list_shares(sums.calls, known);
      part.around = make_share(sums.around, sums.around_samples, all);
      for (const auto& [name, value] : sums.entries) part.entries.push_back(name);
      part.copied = sums.copied / sums.value;
      part.file_cache = sums.file_cache / sums.value;
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
  static bool is_of_fresh_pages(std::string_view key) {
    return key == "fresh_memory" || key == "mapped_files" || key == "copied_pages";
  }

  /// Moves what `from` has at a place to the wanted kind that has at least `least` of all that such
  /// kinds have there.
  template <class Wanted>
  void join(std::string_view from, double least, const Wanted& is_wanted) {
    const auto unknown = kinds_.find(&kernel_kind(from));
    if (unknown == kinds_.end()) return;
    for (auto& [function, place] : unknown->second.places) {
      KindSums* most = nullptr;
      double most_value = 0;
      double all = 0;
      for (auto& [kind, sums] : kinds_) {
        const auto here = sums.places.find(function);
        if (!is_wanted(*kind) || here == sums.places.end()) continue;
        all += here->second.value;
        if (here->second.value <= most_value) continue;
        most = &sums;
        most_value = here->second.value;
      }
      if (most != nullptr && most_value >= least * all)
        move(unknown->second, *most, function, place);
    }
  }

  /// Transfers of an unknown kind are mostly of files.
  void take_for_files() {
    const auto unknown = kinds_.find(&kernel_kind("transfers"));
    if (unknown == kinds_.end() || unknown->second.samples == 0) return;
    KindSums& files = kinds_[&kernel_kind("files")];
    for (auto& [function, place] : unknown->second.places) {
      move(unknown->second, files, function, place);
    }
  }

  static void move(KindSums& from, KindSums& to, const std::string& function, AskingPlace& place) {
    AskingPlace& into = to.places[function];
    into.value += place.value;
    into.samples += place.samples;
    for (const auto& [owner, value] : place.owners) into.owners[owner] += value;
    const double ratio = from.value > 0 ? place.value / from.value : 0;
    const auto move_part = [&](auto& sums, auto& into_sums) {
      for (auto& [name, value] : sums) {
        into_sums[name] += ratio * value;
        value -= ratio * value;
      }
    };
    move_part(from.calls, to.calls);
    move_part(from.entries, to.entries);
    to.copied += ratio * from.copied;
    from.copied -= ratio * from.copied;
    to.file_cache += ratio * from.file_cache;
    from.file_cache -= ratio * from.file_cache;
    from.value -= place.value;
    to.value += place.value;
    from.samples -= place.samples;
    to.samples += place.samples;
    place = {};
  }

  static Estimate make_share(double value, uint64_t samples, double all) {
    const double share = value / all;
    return {share, share / std::sqrt(static_cast<double>(std::max<uint64_t>(1, samples)))};
  }

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
    struct Owner {
      double value = 0;
      std::map<std::string, double> lines;
    };
    std::map<std::string, Owner> owners;
    for (const auto& [asks, place] : sums.places) {
      for (const auto& [owner, value] : place.owners) {
        if (owner.first.empty()) continue;
        Owner& sum = owners[owner.first];
        sum.value += value;
        if (!owner.second.empty()) sum.lines[owner.second] += value;
      }
    }
    double most = 0;
    for (const auto& [function, owner] : owners) {
      if (owner.value <= most) continue;
      most = owner.value;
      part.function = function;
      part.place_share = owner.value / sums.value;
      double most_of_line = 0;
      part.line.clear();
      for (const auto& [line, value] : owner.lines) {
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

/// Short programs cost more than they do: their beginning and their end.
void add_short_processes(const Profile& profile, size_t event, double all, KernelTime& time) {
  constexpr double kShortNs = 10e6;
  if (profile.events[event].unit != Unit::ns) return;
  std::map<std::pair<uint32_t, uint32_t>, Value> processes;  // by run and PID
  for (const Histogram& histogram : profile.histograms) {
    const Context* const context = find_row(profile.contexts, histogram.context);
    const auto* const process =
        context == nullptr ? nullptr : find_row(profile.processes, context->process);
    if (process == nullptr) continue;
    Value& sum = processes[{process->run.value, process->pid}];
    for_each_count(profile, histogram, [&](const Location&, size_t of, const Sum& one) {
      if (of != event) return;
      const Value value = to_value(profile.events[of], one);
      sum.value += value.value;
      sum.samples += value.samples;
    });
  }
  double value = 0;
  uint64_t samples = 0;
  for (const auto& [process, sum] : processes) {
    if (sum.samples == 0 || sum.value > kShortNs) continue;
    ++time.short_process_count;
    value += sum.value;
    samples += sum.samples;
  }
  time.short_processes.value = value / all;
  time.short_processes.standard_error =
      value / all / std::sqrt(static_cast<double>(std::max<uint64_t>(1, samples)));
}

}  // namespace

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
  sums.join_unknown();
  if (time.has_stacks && filters.empty()) {
    for (const Histogram& histogram : profile.histograms) {
      if (leaves.is_kernel(histogram.image)) continue;
      for_each_count(profile, histogram, [&](const Location& place, size_t of, const Sum& sum) {
        if (of == *event) sums.add_around(place, to_value(profile.events[of], sum));
      });
    }
  }
  time.parts = time.has_stacks ? sums.list(all) : leaves.list(all);
  if (filters.empty()) add_short_processes(profile, *event, all, time);
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

std::optional<GainForecast> estimate_block_gain(const KernelTime& time, const KernelPart& part) {
  constexpr double kSmall = 16384;
  constexpr double kLarge = 65536;
  constexpr double kPage = 4096;
  constexpr int64_t kFew = 100;
  const std::string_view kind = part.kind->key;
  if (kind != "files" && kind != "pipes") return std::nullopt;
  const ResourceUse& use = time.use;
  const int64_t calls = use.read_calls.value_or(0) + use.write_calls.value_or(0);
  const int64_t bytes = use.read_bytes.value_or(0) + use.written_bytes.value_or(0);
  if (!time.has_stacks || !part.hint.empty() || calls < kFew) return std::nullopt;
  const double block = static_cast<double>(bytes) / static_cast<double>(calls);
  if (block >= kSmall) return std::nullopt;
  constexpr double kCopiedBytesPerSecond = 5e9;
  constexpr double kOwnSecondsPerCall = 100e-9;
  const double by_call = std::max(0.0, 1 - part.copied - part.file_cache);
  const double calls_saved = 1 - block / kLarge;
  const double pages_saved = std::max(0.0, 1 - block / kPage);
  const double saved = part.share.value * (by_call * calls_saved + part.file_cache * pages_saved);
  const double around = part.around.value * calls_saved;
  double copies = 0;  // that are the cost of many small ones, and go
  double own = 0;
  if (time.cpu_s && *time.cpu_s > 0) {
    const double needed = static_cast<double>(bytes) / kCopiedBytesPerSecond / *time.cpu_s;
    copies = std::max(0.0, part.share.value * part.copied - needed);
    own = std::min(static_cast<double>(calls) * kOwnSecondsPerCall / *time.cpu_s,
                   std::max(0.0, 1 - time.share.value - part.around.value));
  }
  const double chance = kNormal95 * part.share.standard_error;
  GainForecast gain;
  gain.low = std::max(0.0, saved - chance);
  gain.expected = std::min(1.0, saved + around + copies);
  gain.high = std::min(1.0, gain.expected + own + chance);
  return gain;
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

constexpr size_t kManyProcesses = 10;

std::string describe_transfers(const std::optional<int64_t>& calls,
                               const std::optional<int64_t>& bytes, std::string_view name) {
  constexpr int64_t kFew = 100;
  if (!calls || !bytes || *calls < kFew) return "";
  return fmt::format("{} {} of {} on average", format_thousands(static_cast<uint64_t>(*calls)),
                     name, format_bytes(static_cast<uint64_t>(*bytes / *calls)));
}

}  // namespace

double find_upper_end(const KernelTime& time, const KernelPart& part) {
  const double beside = part.share.value + part.around.value;
  const double chance =
      kNormal95 * std::hypot(part.share.standard_error, part.around.standard_error);
  const bool is_of_short =
      part.kind->key == "processes" && time.short_process_count >= kManyProcesses;
  return std::min(1.0, beside + chance + (is_of_short ? time.short_processes.value : 0));
}

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
  if (kind == "processes" && time.short_process_count >= kManyProcesses) {
    return fmt::format("{} processes of at most 10 ms each have {:.0f} % of the time",
                       format_thousands(time.short_process_count),
                       100 * time.short_processes.value);
  }
  return words.empty() ? "" : fmt::format("the whole run: {}", fmt::join(words, ", "));
}

}  // namespace culprit

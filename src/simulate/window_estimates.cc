#include "simulate/window_estimates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

#include "stats/estimate.h"
#include "stats/student.h"

namespace culprit {
namespace {

using counting::kWindowValues;
using counting::Window;
using counts_file::Counter;

using Values = std::array<double, kWindowValues>;

/// How far costs are off since caches and predictors are not quite as the whole run has them, as a
/// standard error: the windows do not differ by it. Found by bench/windows.py on its first three
/// programs; the others are kept out.
constexpr double kOfState = 0.01;

constexpr auto kLoadMemory = static_cast<uint32_t>(Counter::load_memory);
constexpr auto kStoreMemory = static_cast<uint32_t>(Counter::store_memory);

bool is_of_memory(uint32_t which) {
  return which == kLoadMemory || which == kStoreMemory;
}

/// What a damaged file makes of it has limits, too.
uint64_t round_amount(double amount) {
  constexpr double kMost = 1e18;
  return static_cast<uint64_t>(std::llround(std::clamp(amount, 0.0, kMost)));
}

/// A site's values as events read them.
class ReadableSite {
 public:
  explicit ReadableSite(const counts_file::Site& site) : site_(site) {}

  void set(uint32_t which, double amount) {
    const uint64_t whole = round_amount(amount);
    if (which < counting::kStallsInWindow) {
      counts_.value[which] = whole;
    } else if (which < counting::kBusyInWindow) {
      ticks_.stalls.ticks[which - counting::kStallsInWindow] = whole;
    } else if (which < counting::kReplaysInWindow) {
      ticks_.busy.*simulate::kBusyValues[which - counting::kBusyInWindow] = whole;
    } else {
      replays_.ticks[which - counting::kReplaysInWindow] = whole;
    }
  }
  [[nodiscard]] double read(const SimulatedEvent& event) const {
    return static_cast<double>(event.value({site_, 0, counts_, ticks_, replays_}));
  }

 private:
  const counts_file::Site& site_;
  counts_file::SiteCounts counts_{};
  simulate::SiteTicks ticks_{};
  simulate::ReplayTicks replays_{};
};

/// Whether the event has nothing but what memory had: all of it is counted, none estimated.
bool is_of_memory_alone(const SimulatedEvent& event) {
  const counts_file::Site site{};
  ReadableSite memory(site);
  ReadableSite rest(site);
  for (uint32_t i = 0; i < kWindowValues; ++i) (is_of_memory(i) ? memory : rest).set(i, 1);
  return memory.read(event) > 0 && rest.read(event) == 0;
}

/// Functions, as far as the code says where they begin: where calls go. By site: a number.
std::vector<uint32_t> find_functions(const ProcessCounts& counts,
                                     const std::vector<counts_file::Target>& targets) {
  using counts_file::ControlFlow;
  std::vector<uint64_t> begins;
  for (const counts_file::MappedRange& mapping : counts.mappings) begins.push_back(mapping.start);
  for (size_t site = 0; site < counts.sites.size(); ++site) {
    const counts_file::Site& facts = counts.sites[site];
    if (facts.branch != ControlFlow::call || counts.displacements[site] == 0) continue;
    begins.push_back(facts.address + static_cast<uint64_t>(int64_t{counts.displacements[site]}));
  }
  for (const counts_file::Target& target : targets) {
    if (counts.sites[target.from].branch == ControlFlow::indirect_call) {
      begins.push_back(counts.sites[target.to].address);
    }
  }
  std::sort(begins.begin(), begins.end());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  std::vector<uint32_t> functions(counts.sites.size());
  for (size_t site = 0; site < functions.size(); ++site) {
    const auto after = std::upper_bound(begins.begin(), begins.end(), counts.sites[site].address);
    functions[site] = static_cast<uint32_t>(after - begins.begin());
  }
  return functions;
}

}  // namespace

/// The sums that estimates are made of.
class WindowSums {
 public:
  WindowSums(const CountsFile& counts, std::span<const SimulatedEvent> events)
      : counts_(counts), process_(counts.process()), events_(events) {}

  Result<WindowEstimates> make();

 private:
  /// One window of all threads: how far its instructions stand for the segment's.
  struct OneWindow {
    size_t first = 0;  // chunks
    size_t end = 0;
    double segment = 0;
    double weight = 0;
  };
  /// How far the windows' values are from what the executions of one function let expect, by window
  /// and event, as weighted.
  struct Residuals {
    std::vector<uint32_t> windows;
    std::vector<float> values;  // events_.size() for each
    std::vector<double> value;  // the estimate, by event
    std::vector<double> unmet;  // of it, what no window met
  };

  Result<void> find_windows();
  Result<void> add_threads();
  void add_gaps(uint32_t site, const counts_file::SiteCounts& counts);
  Result<void> add_windows();
  void choose_rows();
  void fill_rates();
  [[nodiscard]] Values find_rates(uint32_t site) const;
  Result<void> add_residuals();
  Result<void> add_residuals_of(uint32_t number);
  void compute_variances();
  void add_variances_of_unseen();
  [[nodiscard]] std::vector<double> variances_of(const Residuals& residuals) const;
  Result<Window> chunk(size_t index) const {
    return counts_.windows().window(index, counts_.count_blocks(), process_.sites.size());
  }

  const CountsFile& counts_;
  const ProcessCounts& process_;
  std::span<const SimulatedEvent> events_;
  WindowEstimates out_;
  std::vector<counts_file::Target> targets_;
  std::vector<uint32_t> functions_;                 // by site
  std::vector<OneWindow> windows_;                  // but for the beginning
  std::vector<double> rest_;                        // by site: executions since the beginning
  std::vector<double> at_first_;                    // by site: those of the beginning
  std::vector<double> in_windows_;                  // by site: weighted
  std::unordered_map<uint32_t, Values> beginning_;  // by site, of all threads
  std::unordered_map<uint32_t, Values> sums_;       // by site: weighted
  struct FromMemory {
    double loads = 0;  // in windows, and in gaps
    double stores = 0;
  };
  std::unordered_map<uint32_t, FromMemory> from_memory_;  // by site: since the beginning
  std::vector<bool> is_counted_;                          // by event: it is of memory alone
  std::vector<uint32_t> sites_{0};                        // by row
  std::vector<double> event_rates_;                       // by row and event: per execution
  std::map<uint32_t, Residuals> residuals_;               // by function
};

/// Windows by number, each with the chunks of all threads.
Result<void> WindowSums::find_windows() {
  constexpr size_t kMostWindows = 1 << 16;
  const counting::WindowsFile& file = counts_.windows();
  for (size_t i = 0; i < file.size(); ++i) {
    const counting::WindowHeader& header = file.header(i);
    if (header.window == 0) continue;
    if (header.segment == 0 || windows_.size() > kMostWindows) {
      return Error{"windows of the simulation are damaged"};
    }
    const bool is_new =
        windows_.empty() || file.header(windows_.back().first).window != header.window;
    if (is_new) windows_.push_back({i, i, static_cast<double>(header.segment), 0});
    windows_.back().end = i + 1;
  }
  for (OneWindow& one : windows_) {
    double instructions = 0;
    for (size_t i = one.first; i < one.end; ++i) {
      ASSIGN_OR_RETURN(const Window window, chunk(i));
      for (const counting::WindowRuns& runs : window.runs) {
        instructions += static_cast<double>(runs.runs) *
                        static_cast<double>(counts_.sites_of(runs.block).size());
      }
    }
    one.weight = instructions > 0 ? one.segment / instructions : 0;
  }
  return {};
}

/// What the counts file has of each thread before estimates: executions, and the beginning.
Result<void> WindowSums::add_threads() {
  rest_.resize(process_.sites.size());
  at_first_.resize(process_.sites.size());
  in_windows_.resize(process_.sites.size());
  const auto add = [&](ThreadCounts& thread) {
    targets_.insert(targets_.end(), thread.targets.begin(), thread.targets.end());
    for (const uint32_t site : thread.ran) {
      const uint64_t at_first = std::min(thread.beginning[site], thread.executions[site]);
      rest_[site] += static_cast<double>(thread.executions[site] - at_first);
      at_first_[site] += static_cast<double>(at_first);
      add_gaps(site, thread.counts[site]);
      if (at_first == 0) continue;
      Values& values = beginning_[site];
      constexpr auto kFirstModelled = static_cast<size_t>(Counter::mispredicted);
      for (size_t i = kFirstModelled; i < counts_file::kCounters; ++i) {
        values[i] += static_cast<double>(thread.counts[site].value[i]);
      }
      if (thread.ticks.empty()) continue;
      const simulate::SiteTicks& ticks = thread.ticks[site];
      for (size_t i = 0; i < ticks.stalls.ticks.size(); ++i) {
        values[counting::kStallsInWindow + i] += static_cast<double>(ticks.stalls.ticks[i]);
      }
      for (size_t i = 0; i < std::size(simulate::kBusyValues); ++i) {
        values[counting::kBusyInWindow + i] +=
            static_cast<double>(ticks.busy.*simulate::kBusyValues[i]);
      }
      for (size_t i = 0; i < simulate::kReplays; ++i) {
        values[counting::kReplaysInWindow + i] +=
            static_cast<double>(thread.replays[site].ticks[i]);
      }
    }
  };
  return counts_.visit_threads([](const ThreadCounts&) {}, add);
}

void WindowSums::add_gaps(uint32_t site, const counts_file::SiteCounts& counts) {
  const auto amount = [&](Counter counter) {
    return static_cast<double>(counts.value[static_cast<size_t>(counter)]);
  };
  const FromMemory more{amount(Counter::load_memory_in_gaps),
                        amount(Counter::store_memory_in_gaps)};
  if (more.loads == 0 && more.stores == 0) return;
  FromMemory& sum = from_memory_[site];
  sum.loads += more.loads;
  sum.stores += more.stores;
}

Result<void> WindowSums::add_windows() {
  for (const OneWindow& one : windows_) {
    for (size_t i = one.first; i < one.end; ++i) {
      ASSIGN_OR_RETURN(const Window window, chunk(i));
      for (const counting::WindowRuns& runs : window.runs) {
        for (const uint32_t site : counts_.sites_of(runs.block)) {
          in_windows_[site] += one.weight * static_cast<double>(runs.runs);
        }
      }
      for (const counting::WindowValue& value : window.values) {
        const auto amount = static_cast<double>(value.amount);
        sums_[value.site][value.which] += one.weight * amount;
        if (value.which == kLoadMemory) from_memory_[value.site].loads += amount;
        if (value.which == kStoreMemory) from_memory_[value.site].stores += amount;
      }
    }
  }
  return {};
}

void WindowSums::choose_rows() {
  out_.rows_.resize(process_.sites.size());
  out_.is_not_covered_.resize(process_.sites.size());
  for (uint32_t site = 0; site < process_.sites.size(); ++site) {
    if (rest_[site] == 0) continue;
    out_.has_any_ = true;
    if (in_windows_[site] == 0 && at_first_[site] == 0) {
      out_.is_not_covered_[site] = true;
      if (!from_memory_.contains(site)) continue;
    }
    out_.rows_[site] = static_cast<uint32_t>(sites_.size());
    sites_.push_back(site);
  }
}

/// What an execution since the beginning has.
Values WindowSums::find_rates(uint32_t site) const {
  Values rates{};
  const bool is_met = in_windows_[site] > 0;
  const auto& from = is_met ? sums_ : beginning_;
  if (const auto found = from.find(site); found != from.end()) {
    const double executions = is_met ? in_windows_[site] : at_first_[site];
    for (uint32_t i = 0; i < kWindowValues; ++i) rates[i] = found->second[i] / executions;
  }
  const auto counted = from_memory_.find(site);
  const FromMemory memory = counted == from_memory_.end() ? FromMemory() : counted->second;
  rates[kLoadMemory] = memory.loads / rest_[site];
  rates[kStoreMemory] = memory.stores / rest_[site];
  return rates;
}

void WindowSums::fill_rates() {
  out_.rates_.resize(sites_.size() * kWindowValues);
  event_rates_.resize(sites_.size() * events_.size());
  for (const SimulatedEvent& event : events_) is_counted_.push_back(is_of_memory_alone(event));
  for (size_t row = 1; row < sites_.size(); ++row) {
    const uint32_t site = sites_[row];
    const Values rates = find_rates(site);
    ReadableSite readable(process_.sites[site]);
    // Whole numbers are read: they are made large.
    constexpr double kLarge = uint64_t{1} << 32;
    for (uint32_t i = 0; i < kWindowValues; ++i) {
      out_.rates_[row * kWindowValues + i] = rates[i];
      readable.set(i, kLarge * rates[i]);
    }
    for (size_t event = 0; event < events_.size(); ++event) {
      event_rates_[row * events_.size() + event] = readable.read(events_[event]) / kLarge;
    }
  }
}

Result<void> WindowSums::add_residuals_of(uint32_t number) {
  const OneWindow& one = windows_[number];
  const auto of_function = [&](uint32_t site) -> float* {
    Residuals& residuals = residuals_[functions_[site]];
    if (residuals.windows.empty() || residuals.windows.back() != number) {
      residuals.windows.push_back(number);
      residuals.values.resize(residuals.values.size() + events_.size());
    }
    return &residuals.values[residuals.values.size() - events_.size()];
  };
  // An execution of the site in the window stands for so many of the run's.
  const auto scale_of = [&](uint32_t site) { return one.weight * rest_[site] / in_windows_[site]; };
  for (size_t i = one.first; i < one.end; ++i) {
    ASSIGN_OR_RETURN(const Window window, chunk(i));
    for (const counting::WindowRuns& runs : window.runs) {
      for (const uint32_t site : counts_.sites_of(runs.block)) {
        if (out_.rows_[site] == 0) continue;
        float* const residuals = of_function(site);
        const double* const rates = &event_rates_[out_.rows_[site] * events_.size()];
        const double expected = scale_of(site) * static_cast<double>(runs.runs);
        for (size_t event = 0; event < events_.size(); ++event) {
          residuals[event] -= static_cast<float>(expected * rates[event]);
        }
      }
    }
    for (size_t at = 0; at < window.values.size();) {
      const uint32_t site = window.values[at].site;
      ReadableSite readable(process_.sites[site]);
      for (; at < window.values.size() && window.values[at].site == site; ++at) {
        readable.set(window.values[at].which, static_cast<double>(window.values[at].amount));
      }
      if (out_.rows_[site] == 0 || in_windows_[site] == 0) continue;
      float* const residuals = of_function(site);
      for (size_t event = 0; event < events_.size(); ++event) {
        residuals[event] += static_cast<float>(scale_of(site) * readable.read(events_[event]));
      }
    }
  }
  return {};
}

Result<void> WindowSums::add_residuals() {
  for (size_t row = 1; row < sites_.size(); ++row) {
    const uint32_t site = sites_[row];
    Residuals& residuals = residuals_[functions_[site]];
    residuals.value.resize(events_.size());
    residuals.unmet.resize(events_.size());
    for (size_t event = 0; event < events_.size(); ++event) {
      const double value = rest_[site] * event_rates_[row * events_.size() + event];
      residuals.value[event] += value;
      if (in_windows_[site] == 0 && !is_counted_[event]) residuals.unmet[event] += value;
    }
  }
  for (uint32_t number = 0; number < windows_.size(); ++number) {
    RETURN_IF_ERROR(add_residuals_of(number));
  }
  return {};
}

/// The variance, by event, of a sum whose weighted residuals in the windows these are; it had none
/// in others. The part of the run that a window stands for is drawn apart from all others; how it
/// varies within is seen from its neighbours. Of what comes in bursts few windows tell, however
/// many there are: so much wider is the interval.
std::vector<double> WindowSums::variances_of(const Residuals& residuals) const {
  const size_t events = events_.size();
  std::vector<double> variances(events);
  std::vector<double> squares_of_terms(events);
  // Half of the squared difference is the variance of one; each window has two neighbours, but for
  // the first and the last.
  const auto share = [&](uint32_t of) {
    const bool is_at_end = of == 0 || of + 1 == windows_.size();
    return std::pow(windows_[of].segment, 2) * (is_at_end ? 1 : 0.5);
  };
  const auto add_difference = [&](uint32_t number, const float* now, const float* before) {
    const double squares = (share(number - 1) + share(number)) / 2;
    const auto rate = [&](const float* values, uint32_t of, size_t event) {
      return values == nullptr ? 0.0 : values[event] / windows_[of].segment;
    };
    for (size_t event = 0; event < events; ++event) {
      const double difference = rate(now, number, event) - rate(before, number - 1, event);
      const double term = squares * difference * difference;
      variances[event] += term;
      squares_of_terms[event] += term * term;
    }
  };
  // Most functions are in few windows: two neighbours without it do not differ.
  for (size_t at = 0; at < residuals.windows.size(); ++at) {
    const uint32_t number = residuals.windows[at];
    const float* const now = &residuals.values[at * events];
    const bool is_behind_one = at > 0 && residuals.windows[at - 1] + 1 == number;
    if (number > 0) add_difference(number, now, is_behind_one ? now - events : nullptr);
    const bool is_before_one =
        at + 1 < residuals.windows.size() && residuals.windows[at + 1] == number + 1;
    if (!is_before_one && number + 1 < windows_.size()) add_difference(number + 1, nullptr, now);
  }
  // How many windows of equal weight would tell as much.
  double sum = 0;
  double squares = 0;
  for (const uint32_t number : residuals.windows) {
    sum += windows_[number].segment;
    squares += std::pow(windows_[number].segment, 2);
  }
  const double equal = squares > 0 ? sum * sum / squares : 0;
  for (size_t event = 0; event < events; ++event) {
    if (is_counted_[event]) {
      variances[event] = 0;
    } else if (equal < 2) {
      variances[event] = std::max(variances[event], std::pow(residuals.value[event], 2));
    } else if (variances[event] > 0) {
      const double degrees = degrees_of_sum(variances[event], squares_of_terms[event]);
      const double wider = student_quantile95(std::min(equal - 1, degrees)) / kNormal95;
      variances[event] *= wider * wider;
    }
    variances[event] += std::pow(residuals.unmet[event], 2);
    variances[event] += std::pow(kOfState * residuals.value[event], 2);
  }
  return variances;
}

void WindowSums::compute_variances() {
  const size_t events = events_.size();
  Residuals all;
  std::vector<double> sum(events);
  std::map<uint32_t, std::vector<double>> of_functions;
  std::vector<double> total(windows_.size() * events);
  std::vector<bool> is_any(windows_.size());
  for (const auto& [function, residuals] : residuals_) {
    const std::vector<double>& variances = of_functions[function] = variances_of(residuals);
    for (size_t event = 0; event < events; ++event) sum[event] += variances[event];
    for (size_t i = 0; i < residuals.windows.size(); ++i) {
      is_any[residuals.windows[i]] = true;
      for (size_t event = 0; event < events; ++event) {
        total[residuals.windows[i] * events + event] += residuals.values[i * events + event];
      }
    }
  }
  for (uint32_t number = 0; number < windows_.size(); ++number) {
    if (!is_any[number]) continue;
    all.windows.push_back(number);
    for (size_t event = 0; event < events; ++event) {
      all.values.push_back(static_cast<float>(total[number * events + event]));
    }
  }
  all.value.assign(events, 0);
  for (const auto& [function, residuals] : residuals_) {
    for (size_t event = 0; event < events; ++event) all.value[event] += residuals.value[event];
  }
  all.unmet.assign(events, 0);
  const std::vector<double> of_all = variances_of(all);
  // What functions have in common shows in the sum of all: it raises all.
  std::vector<double> raise(events, 1);
  for (size_t event = 0; event < events; ++event) {
    if (of_all[event] > sum[event] && sum[event] > 0) raise[event] = of_all[event] / sum[event];
  }
  out_.events_ = events;
  out_.variances_.resize(sites_.size() * events);
  for (size_t row = 1; row < sites_.size(); ++row) {
    const uint32_t function = functions_[sites_[row]];
    const Residuals& residuals = residuals_[function];
    const std::vector<double>& variances = of_functions[function];
    for (size_t event = 0; event < events; ++event) {
      const double value = residuals.value[event];
      if (!(value > 0)) continue;
      out_.variances_[row * events + event] =
          raise[event] * variances[event] * event_rates_[row * events + event] / value;
    }
  }
}

/// The beginning of the run had the event at an instruction, and no window had it anywhere in its
/// function: zero is the estimate, and not certain.
/// Source: the rule of three: of what has not been seen in a share f of the places, 95 % hold that
///         there is no more than 3 / f
void WindowSums::add_variances_of_unseen() {
  double instructions = 0;
  double segments = 0;
  for (const OneWindow& one : windows_) {
    if (one.weight == 0) continue;
    segments += one.segment;
    instructions += one.segment / one.weight;
  }
  if (instructions == 0) return;
  const double variance = std::pow(3 * segments / instructions / kNormal95, 2);
  const size_t events = events_.size();
  struct Unseen {
    std::vector<uint32_t> rows;
    double executions = 0;
  };
  std::map<std::pair<uint32_t, size_t>, Unseen> unseen;  // by function and event
  for (uint32_t row = 1; row < sites_.size(); ++row) {
    const uint32_t site = sites_[row];
    const auto found = beginning_.find(site);
    if (found == beginning_.end() || in_windows_[site] == 0) continue;
    ReadableSite readable(process_.sites[site]);
    for (uint32_t i = 0; i < kWindowValues; ++i) readable.set(i, found->second[i]);
    for (size_t event = 0; event < events; ++event) {
      if (readable.read(events_[event]) == 0 || is_counted_[event]) continue;
      if (residuals_[functions_[site]].value[event] > 0) continue;
      Unseen& of = unseen[{functions_[site], event}];
      of.rows.push_back(row);
      of.executions += rest_[site];
    }
  }
  for (const auto& [key, of] : unseen) {
    for (const uint32_t row : of.rows) {
      out_.variances_[row * events + key.second] = variance / of.executions;
    }
  }
}

Result<WindowEstimates> WindowSums::make() {
  RETURN_IF_ERROR(find_windows());
  RETURN_IF_ERROR(add_threads());
  RETURN_IF_ERROR(add_windows());
  functions_ = find_functions(process_, targets_);
  choose_rows();
  if (!out_.has_any_) return std::move(out_);
  fill_rates();
  RETURN_IF_ERROR(add_residuals());
  compute_variances();
  add_variances_of_unseen();
  return std::move(out_);
}

Result<WindowEstimates> WindowEstimates::make(const CountsFile& counts,
                                              std::span<const SimulatedEvent> events) {
  return WindowSums(counts, events).make();
}

void WindowEstimates::estimate(ThreadCounts& thread) const {
  for (const uint32_t site : thread.ran) {
    if (thread.executions[site] <= thread.beginning[site]) continue;
    if (is_not_covered_[site]) thread.is_not_covered[site] = true;
    if (rows_[site] == 0) continue;
    const double rest = static_cast<double>(thread.executions[site] - thread.beginning[site]);
    const double* const rates = &rates_[size_t{rows_[site]} * kWindowValues];
    const auto more = [&](uint32_t which) { return round_amount(rest * rates[which]); };
    for (uint32_t i = 0; i < counts_file::kCounters; ++i) thread.counts[site].value[i] += more(i);
    if (thread.ticks.empty()) continue;
    simulate::SiteTicks& ticks = thread.ticks[site];
    for (uint32_t i = 0; i < ticks.stalls.ticks.size(); ++i) {
      ticks.stalls.ticks[i] += more(counting::kStallsInWindow + i);
    }
    for (uint32_t i = 0; i < std::size(simulate::kBusyValues); ++i) {
      ticks.busy.*simulate::kBusyValues[i] += more(counting::kBusyInWindow + i);
    }
    for (uint32_t i = 0; i < simulate::kReplays; ++i) {
      thread.replays[site].ticks[i] += more(counting::kReplaysInWindow + i);
    }
  }
}

double WindowEstimates::variance(uint32_t site, size_t event, uint64_t executions) const {
  if (!has_any_ || rows_[site] == 0) return 0;
  return variances_[rows_[site] * events_ + event] * static_cast<double>(executions);
}

}  // namespace culprit

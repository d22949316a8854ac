// How far estimated frequencies are from the counted ones of the same profile, for
// bench/frequency.sh.
//
//   frequency_bench PROFILE...
//
// Of each profile of two runs (record --engine timer+simulate): its counted executions are the
// truth. Sampled instructions are drawn from them (Poisson, no skid); time is that of its native
// run. Blocks weigh as the instructions that they executed, edges as they were taken, programs
// alike; of time alone ratios are compared, after one factor per function that an oracle sets (the
// weighted median), with and without the frequency class that this factor is right for by
// definition. Programs at odd places of the command line may have been used to choose how
// frequencies are estimated, those at even places not: the tables have both.
//
// Samples of a class of blocks that run equally often scatter as Poisson's counts do: "of classes
// alone" is the share that they would have within 10 % by that, expected from the truth; "ratios
// known" what nobody can exceed who looks at one function at a time: were it known how often each
// block runs for one of another, the samples of the whole function would still scatter. At last,
// histograms of errors (as DCPI's figures 8 to 10), what the confidences hold, and what a function
// of 3,000 blocks takes.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "flow/function_flow.h"
#include "flow/test_graph.h"
#include "model/counts.h"
#include "session/profile_view.h"

using namespace culprit;

namespace {

constexpr double kBounds[] = {5, 10, 15, 25, 50};

/// What became of the histograms' bars: errors of +-2.5 %, up to 7.5 %, ..., all beyond 47.5 %.
constexpr int kBars = 21;
using Bars = std::array<double, kBars>;

/// Errors [%], each with its weight.
struct Errors {
  std::vector<std::pair<double, double>> blocks, edges, without_scale;
  std::array<std::vector<std::pair<double, double>>, 3> by_confidence;
  Bars block_bars{}, edge_bars{};

  static void add_bar(double error, double weight, Bars& bars) {
    bars[static_cast<size_t>(std::clamp(std::lround(error / 5), -10L, 10L) + 10)] += weight;
  }

  static double within(const std::vector<std::pair<double, double>>& errors, double percent) {
    double all = 0, good = 0;
    for (const auto& [error, weight] : errors) {
      all += weight;
      if (error <= percent) good += weight;
    }
    return all > 0 ? 100 * good / all : NAN;
  }
};

double median(std::vector<std::pair<double, double>> values) {
  std::sort(values.begin(), values.end());
  double all = 0, before = 0;
  for (const auto& [value, weight] : values) all += weight;
  for (const auto& [value, weight] : values) {
    before += weight;
    if (before >= all / 2) return value;
  }
  return 1;
}

struct HotFunction {
  const FunctionGraph* graph;
  FunctionFlow truth;
  std::vector<SeenInstruction> time;
  double executed = 0;
};

std::vector<SeenInstruction> see(const Profile& profile, ImageId image, const Disassembly& code,
                                 size_t wanted) {
  std::vector<SeenInstruction> seen(code.instructions.size());
  const FileOffset end = code.to_offset(code.instructions.back().end());
  for (const Histogram& histogram : profile.histograms) {
    if (histogram.image != image) continue;
    for_each_count_within(profile, histogram, code.to_offset(code.instructions.front().address),
                          end, [&](const Location& at, size_t event, const Sum& sum) {
                            if (event != wanted) return;
                            for (size_t i = 0; i < seen.size(); ++i) {
                              if (code.to_link(at.offset) < code.instructions[i].end()) {
                                seen[i].value += static_cast<double>(sum.value);
                                seen[i].variance += sum.variance;
                                seen[i].samples += sum.samples;
                                return;
                              }
                            }
                          });
  }
  return seen;
}

void compare(const HotFunction& function, const FunctionFlow& estimate, bool is_ratio,
             Errors& errors) {
  const FlowGraph& graph = function.graph->graph;
  const FrequencyClasses classes = find_frequency_classes(graph);
  const auto size = [&](uint32_t block) {
    const Block& where = function.graph->code.blocks[block];
    return static_cast<double>(where.last - where.first);
  };
  double factor = 1;
  uint32_t scale_class = UINT32_MAX;
  if (is_ratio) {
    std::vector<std::pair<double, double>> ratios;
    for (uint32_t block = 0; block < graph.blocks; ++block) {
      const double runs = function.truth.runs(block);
      if (runs > 0 && estimate.runs(block) > 0) {
        ratios.emplace_back(runs / estimate.runs(block), runs * size(block));
      }
    }
    factor = median(ratios);
    double nearest = INFINITY;
    for (uint32_t block = 0; block < graph.blocks; ++block) {
      const double runs = function.truth.runs(block);
      const double off = std::abs(factor * estimate.runs(block) / runs - 1);
      if (runs > 0 && off < nearest) {
        nearest = off;
        scale_class = classes.blocks[block];
      }
    }
  }
  for (uint32_t block = 0; block < graph.blocks; ++block) {
    const double runs = function.truth.runs(block);
    if (!(runs > 0)) continue;
    const double off = 100 * (factor * estimate.runs(block) / runs - 1);
    const std::pair<double, double> error{std::abs(off), runs * size(block)};
    errors.blocks.push_back(error);
    Errors::add_bar(off, error.second, errors.block_bars);
    const Confidence confidence =
        estimate.blocks[block] ? estimate.blocks[block]->confidence : Confidence::low;
    errors.by_confidence[static_cast<size_t>(confidence)].push_back(error);
    if (classes.blocks[block] != scale_class) errors.without_scale.push_back(error);
  }
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    if (!function.truth.edges[i] || !(function.truth.edges[i]->runs.value > 0)) continue;
    const double runs = function.truth.edges[i]->runs.value;
    const double seen = estimate.edges[i] ? estimate.edges[i]->runs.value : 0;
    const double off = 100 * (factor * seen / runs - 1);
    errors.edges.emplace_back(std::abs(off), runs);
    Errors::add_bar(off, runs, errors.edge_bars);
  }
}

/// The part of executed instructions that would be within 10 % by what was sampled in their class,
/// or in their whole function.
double find_expected_share(const std::vector<HotFunction>& functions, double period,
                           bool of_whole_functions) {
  double all = 0, good = 0;
  for (const HotFunction& function : functions) {
    const FrequencyClasses classes = find_frequency_classes(function.graph->graph);
    std::vector<double> executed(classes.count);
    for (uint32_t block = 0; block < function.graph->graph.blocks; ++block) {
      const Block& where = function.graph->code.blocks[block];
      executed[of_whole_functions ? 0 : classes.blocks[block]] +=
          function.truth.runs(block) * static_cast<double>(where.last - where.first);
    }
    for (const double of_part : executed) {
      if (!(of_part > 0)) continue;
      const double mean = of_part / period;
      double within = 0;  // the chance of a count from 0.9 to 1.1 of the mean
      for (double k = std::ceil(0.9 * mean); k <= 1.1 * mean; ++k) {
        within += std::exp(k * std::log(mean) - mean - std::lgamma(k + 1));
      }
      all += of_part;
      good += of_part * within;
    }
  }
  return 100 * good / all;
}

struct Rows {
  std::map<std::string, std::vector<std::array<double, 5>>> shares;  // by row: programs
  std::map<std::string, Bars> bars;                                  // each program adds up to 1
};

void note(const std::string& name, const std::vector<std::pair<double, double>>& errors,
          Rows& rows) {
  if (errors.empty()) return;
  std::array<double, 5> shares{};
  for (size_t i = 0; i < 5; ++i) shares[i] = Errors::within(errors, kBounds[i]);
  rows.shares[name].push_back(shares);
}

void note(const std::string& name, const Errors& errors, Rows& rows) {
  note(name + ", blocks", errors.blocks, rows);
  note(name + ", edges", errors.edges, rows);
  for (const auto& [kind, bars] :
       {std::pair{", blocks", &errors.block_bars}, std::pair{", edges", &errors.edge_bars}}) {
    double all = 0;
    for (const double bar : *bars) all += bar;
    for (size_t i = 0; all > 0 && i < bars->size(); ++i) {
      rows.bars[name + kind][i] += (*bars)[i] / all;
    }
  }
  for (const Confidence confidence : {Confidence::low, Confidence::medium, Confidence::high}) {
    note(name + ", confidence " + word_of(confidence),
         errors.by_confidence[static_cast<size_t>(confidence)], rows);
  }
}

bool measure(const char* path, Rows& rows) {
  Result<ProfileView> view = ProfileView::open(path);
  if (!view) {
    std::fprintf(stderr, "%s: %s\n", path, view.error().message.c_str());
    return false;
  }
  const Profile& profile = view->profile();
  const FactsLookup facts = view->facts({FactPart::functions, FactPart::code});
  CodeIndex code(profile, facts);
  CodeFlow flows(code);
  FlowFinder counted(flows, find_executions(profile, facts));
  const ExecutionEvents time = find_executions(profile, facts, ExecutionSource::time);
  if (counted.source() != ExecutionSource::counted || time.events.empty()) {
    std::fprintf(stderr, "%s: needs record --engine timer+simulate\n", path);
    return false;
  }
  std::vector<HotFunction> functions;
  double executed = 0;
  for (uint32_t image = 0; image < profile.images.size(); ++image) {
    const ImageFacts* const known = code.facts(ImageId(image));
    for (uint32_t row = 0; known != nullptr && row < known->functions.size(); ++row) {
      std::optional<FunctionFlow> truth = counted.find(ImageId(image), row);
      if (!truth) continue;
      HotFunction one{truth->function, *std::move(truth), {}, 0};
      for (const double runs : one.truth.instructions) one.executed += runs;
      executed += one.executed;
      one.time = see(profile, ImageId(image), one.graph->code, time.events.front());
      functions.push_back(std::move(one));
    }
  }
  std::erase_if(functions, [&](const HotFunction& one) { return one.executed < 0.001 * executed; });

  std::mt19937_64 random(1);
  for (const double samples : {1e3, 3e3, 1e4, 3e4}) {
    Errors errors;
    for (const HotFunction& function : functions) {
      std::vector<SeenInstruction> seen(function.time.size());
      for (size_t i = 0; i < seen.size(); ++i) {
        const double period = executed / samples;
        std::poisson_distribution<uint64_t> drawn(
            std::max(1e-300, function.truth.instructions[i] / period));
        seen[i].samples = drawn(random);
        seen[i].value = static_cast<double>(seen[i].samples) * period;
        seen[i].variance = seen[i].value * period;
      }
      compare(function,
              make_function_flow(*function.graph, ExecutionSource::sampled, seen, {}, false), false,
              errors);
    }
    char name[64];
    std::snprintf(name, sizeof name, "%6.0f instructions sampled", samples);
    note(name, errors, rows);
    for (const bool whole : {false, true}) {
      const double share = find_expected_share(functions, executed / samples, whole);
      rows.shares[std::string(name) + (whole ? ", ratios known" : ", of classes alone")].push_back(
          {NAN, share, NAN, NAN, NAN});
    }
  }
  Errors errors;
  for (const HotFunction& function : functions) {
    compare(function,
            make_function_flow(*function.graph, ExecutionSource::time, function.time, {}, false),
            true, errors);
  }
  note("time alone: ratios", errors, rows);
  note("time alone: ratios, without class of scale", errors.without_scale, rows);
  std::printf("%-40s %4zu functions, within 10 %%: %3.0f %% by time, edges %3.0f %%\n", path,
              functions.size(), Errors::within(errors.blocks, 10),
              Errors::within(errors.edges, 10));
  return true;
}

void time_large_functions() {
  std::mt19937 random(2);
  for (const size_t blocks : {300, 3000, 10000}) {
    std::vector<double> ms;
    for (int round = 0; round < 9; ++round) {
      // Of real code: most branches are short, some go back.
      std::vector<std::pair<int, bool>> ways;
      for (size_t block = 0; block < blocks; ++block) {
        const auto near = static_cast<int>(block) + static_cast<int>(random() % 12) - 3;
        const bool is_branch = random() % 3 != 0;
        const int to = std::clamp(near, 0, static_cast<int>(blocks) - 1);
        ways.emplace_back(block + 1 == blocks ? -1 : is_branch ? to : -2, block + 1 != blocks);
      }
      Disassembly code = make_blocks(ways);
      std::vector<SeenInstruction> seen(blocks);
      for (SeenInstruction& one : seen) {
        one.samples = random() % 100;
        one.value = one.variance = static_cast<double>(one.samples);
      }
      const std::clock_t begin = std::clock();
      FunctionGraph function;
      function.code = std::move(code);
      function.graph = make_flow_graph(function.code);
      function.loops = find_loops(function.graph);
      make_function_flow(function, ExecutionSource::sampled, seen, {}, false);
      ms.push_back(1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    std::sort(ms.begin(), ms.end());
    std::printf("a function of %5zu blocks: %7.1f ms of CPU (median of 9)\n", blocks, ms[4]);
  }
}

void print_shares(const char* what, const Rows& rows) {
  if (rows.shares.empty()) return;
  std::printf(
      "\n%s: %% of executed instructions (edges: of taken edges) whose frequency is within\n%-48s",
      what, "");
  for (const double bound : kBounds) std::printf(" %4.0f %%", bound);
  std::printf(" programs\n");
  for (const auto& [name, programs] : rows.shares) {
    std::printf("%-48s", name.c_str());
    for (size_t i = 0; i < 5; ++i) {
      double sum = 0;
      for (const auto& shares : programs) sum += shares[i];
      const double mean = sum / static_cast<double>(programs.size());
      if (std::isnan(mean)) {
        std::printf("      -");
      } else {
        std::printf(" %6.0f", mean);
      }
    }
    std::printf(" %8zu\n", programs.size());
  }
}

void print_bars(const char* what, const Rows& rows) {
  if (rows.bars.empty()) return;
  std::printf("\n%s: %% of executed instructions by error; columns 5 points wide\n%-34s", what, "");
  for (int bar = 0; bar < kBars; ++bar) {
    std::printf(" %s%*d", bar == 0 ? "<=" : bar + 1 == kBars ? ">=" : "", 3, 5 * (bar - kBars / 2));
  }
  std::printf("\n");
  for (const auto& [name, bars] : rows.bars) {
    std::printf("%-34s", name.c_str());
    double all = 0;
    for (const double bar : bars) all += bar;
    for (int bar = 0; bar < kBars; ++bar) {
      std::printf(" %*.0f", bar == 0 ? 5 : 3, 100 * bars[static_cast<size_t>(bar)] / all);
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  Rows seen, kept_out;
  bool is_good = true;
  for (int i = 1; i < argc; ++i) {
    is_good = measure(argv[i], i % 2 == 1 ? seen : kept_out) && is_good;
  }
  print_shares("seen", seen);
  print_shares("kept out", kept_out);
  print_bars("kept out", kept_out);
  std::printf("\n");
  time_large_functions();
  return is_good ? 0 : 1;
}

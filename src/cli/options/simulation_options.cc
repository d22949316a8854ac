#include "cli/options/simulation_options.h"

#include <bit>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/number.h"
#include "base/text.h"
#include "cli/options/option_words.h"
#include "simulate/objects/allocators.h"
#include "simulate/objects/ranges.h"

namespace culprit {
namespace {

constexpr Word<simulate::Locality> kLocalities[] = {{"off", simulate::Locality::off},
                                                    {"l1", simulate::Locality::l1},
                                                    {"all", simulate::Locality::all}};

constexpr Word<std::optional<objects::Grouping>> kGroupings[] = {
    {"site", objects::Grouping::site},
    {"size", objects::Grouping::size},
    {"instance", objects::Grouping::instance},
    {"none", std::nullopt}};

constexpr Word<bool> kDetails[] = {{"events", false}, {"core", true}};

/// "all", "1/16", "1/16,7", "1/16,7,1000000". Which N there can be is for the machine's caches to
/// say.
void parse_sets(const std::string& text, SimulateOptions& options) {
  const std::vector<std::string_view> words = split(text, ',');
  const std::string_view fraction = text == "all" ? "1/1" : words[0];
  const uint64_t sets =
      fraction.starts_with("1/") ? find_number(fraction.substr(2), 10).value_or(0) : 0;
  options.sample_seed = words.size() > 1 ? find_number(words[1], 10).value_or(0) : 1;
  const uint64_t first = words.size() > 2 ? find_number(words[2], 10).value_or(0) : 1;
  // The sets of a cache are a power of two, and so is any part of them that is taken evenly.
  const bool is_good = std::has_single_bit(sets) && sets <= UINT32_MAX && words.size() <= 3 &&
                       options.sample_seed != 0 && first != 0;
  if (!is_good) {
    throw CLI::ValidationError("'" + text +
                               "' is not all or 1/N[,SEED[,FIRST]] with a power of two N, as in "
                               "--sets 1/16");
  }
  options.sample_sets = static_cast<uint32_t>(sets);
  options.sample_first = words.size() > 2 ? first : 0;
}

/// Accesses in all sets before a sample that has locality begins: enough to see which sets are hot.
constexpr uint64_t kUsualFirst = 200'000'000;

/// "all", "auto", "5%", "5%,7", "5%,7,1000000".
void parse_windows(const std::string& text, SimulateOptions& options) {
  const std::vector<std::string_view> words = split(text, ',');
  counting::WindowOptions windows;
  const std::string share(words[0]);
  char* end = nullptr;
  double percent =
      share == "auto" ? counting::kUsualWindows / 1e4 : std::strtod(share.c_str(), &end);
  const bool is_percent = end == nullptr || (end != share.c_str() && std::string_view(end) == "%");
  if (words.size() > 1) windows.seed = find_number(words[1], 10).value_or(0);
  if (words.size() > 2) windows.first = find_number(words[2], 10).value_or(0);
  const bool is_good = is_percent && percent >= 0.01 && percent <= 50 && words.size() <= 3 &&
                       windows.seed != 0 && windows.first != 0;
  if (!is_good && text != "all") {
    throw CLI::ValidationError("'" + text +
                               "' is not all, auto or 0.01% to 50%, as in --windows 5%");
  }
  windows.per_million = text == "all" ? 0 : static_cast<uint32_t>(percent * 1e4 + 0.5);
  options.windows = windows;
}

}  // namespace

void add_simulation(CLI::App* app, RecordCommand* command) {
  const OptionGroup group(app, "Software PMU (--engine simulate and timer+simulate)");
  app->add_option("--machine", command->machine,
                  "whose caches and TLBs, a name (host, zen4, ...), a file, or none for "
                  "executions and accesses only [host]")
      ->type_name("NAME|FILE");
  add_word(app, "--detail", &command->simulate.cycles, kDetails,
           "core models the machine's cycles, too; events only counts, and is faster "
           "[core]");
  add_word(app, "--locality", &command->simulate.locality, kLocalities,
           "what became of the lines that each instruction brought in, and who "
           "reused or evicted them, in L1 or in all levels [off]");
  add_taken(
      app, "--sets", [command](const std::string& text) { parse_sets(text, command->simulate); },
      "one in N of the machine's cache sets, chosen at random by SEED [1], and "
      "estimate the misses of all: much faster; without cycles, TLBs, mispredictions and "
      "prefetchers. FIRST: so many accesses of each process in all sets, before [0; with "
      "--locality 200000000] [all]",
      "all|1/N[,SEED[,FIRST]]");
  add_taken(
      app, "--windows",
      [command](const std::string& text) { parse_windows(text, command->simulate); },
      "caches, branches and cycles in windows with so much of the run, at places "
      "chosen at random by SEED [1], and of the first FIRST instructions [33554432], and "
      "estimate those of all: for programs that run for seconds; executions stay exact; auto: "
      "5% [all]",
      "all|auto|P%[,SEED[,FIRST]]");
  add_parsed(app, "--budget", &command->simulate.budget_ns, parse_duration_ns,
             "so long may it take: windows as many as there is time for (of timer+simulate, "
             "which knows the program's own), and the program is ended then",
             "DURATION");
  add_taken(
      app, "--objects",
      [command](const std::string& text) {
        const std::optional<objects::Grouping> grouping = parse_word(kGroupings, text);
        command->simulate.objects = grouping.has_value();
        command->simulate.grouping = grouping.value_or(objects::Grouping::site);
      },
      "what is accessed, by data object: variables, stacks, mappings, and blocks of the "
      "heap by where they are allocated (site), by that and their size, or the 10,000 largest "
      "each by itself (instance) [none; with --locality site]",
      "site|size|instance|none");
  add_each_taken(
      app, "--range",
      [command](const std::string& text) {
        Result<objects::Range> range = objects::parse_range(text);
        if (!range) throw CLI::ValidationError(range.error().message);
        command->simulate.ranges.push_back(*std::move(range));
        command->simulate.objects = true;
      },
      "this part of memory is a data object of its own: NAME=SYMBOL, "
      "NAME=FILE:SYMBOL, NAME=FILE:LINE (the blocks allocated there), NAME=ADDRESS+BYTES; "
      "may be repeated; CULPRIT_RANGE has more, with semicolons between",
      "RANGE");
  add_each_taken(
      app, "--allocator",
      [command](const std::string& text) {
        const Result<objects::OwnAllocator> one = objects::parse_allocator(text);
        if (!one) throw CLI::ValidationError(one.error().message);
        command->simulate.allocators.push_back(text);
        command->simulate.objects = true;
      },
      "this function of the program allocates, too: SYMBOL, whose first argument is the size, "
      "SYMBOL:2 the second, SYMBOL:1*2 a product; SYMBOL:frees frees; may be repeated",
      "SYMBOL[:ARGUMENT]");
  app->add_flag("--deterministic", command->simulate.deterministic,
                "threads take turns by simulated time: counts of programs with threads "
                "repeat, and cores take lines from each other as they would; slower");
  app->add_option("--roi", command->region,
                  "only while inside this function of the program, and what it calls; "
                  "FILE:SYMBOL is one of a library")
      ->type_name("SYMBOL");
  app->add_option("--skip", command->simulate.skip_instructions,
                  "not the first N instructions of each process")
      ->type_name("N");
  app->add_flag_callback(
      "--no-experiments", [command] { command->experiments = false; },
      "timer+simulate: do not run it natively again to see what it takes with all threads on one "
      "CPU, or with subnormal numbers flushed to zero");
  app->add_option("--max-instructions", command->simulate.max_instructions,
                  "count so many of each process, then let it run on")
      ->type_name("N");
  app->add_option("--sysroot", command->simulate.sysroot,
                  "where the libraries of a program for another architecture are")
      ->type_name("DIR");
}

namespace {

/// What windows do not tell of the whole run; "" if nothing of it is asked for.
std::string find_beyond_windows(const RecordCommand& command) {
  const SimulateOptions& simulate = command.simulate;
  if (command.machine == "none") return "--machine none: there is nothing to model";
  if (simulate.sample_sets > 1) return "--sets: one sample at a time";
  if (simulate.objects) {
    return "--objects or --range: what is of which object is not estimated from windows";
  }
  if (simulate.regions) {
    return "--regions: what is of which construct is not estimated from windows";
  }
  if (simulate.deterministic) {
    return "--deterministic: threads take turns by simulated time, which windows do not have of "
           "the "
           "whole run";
  }
  if (simulate.locality != simulate::Locality::off) {
    return "--locality: what becomes of lines is not estimated from windows";
  }
  return "";
}

/// Against an option that leads to windows, --budget among them.
std::string check_windows(const RecordCommand& command) {
  if (!command.simulate.windows.are_wanted()) return "";
  const std::string beyond = find_beyond_windows(command);
  if (beyond.empty()) return "";
  return command.windows_by_budget
             ? "--budget and " + beyond + " (a budget chooses how many there is time for)"
             : "--windows and " + beyond;
}

/// Whether windows would tell all that is asked for.
bool may_have_windows(const RecordCommand& command) {
  return find_beyond_windows(command).empty();
}

/// A sample of sets tells misses and what becomes of lines; "" if nothing else is asked for.
std::string check_sets(const CLI::App& app, RecordCommand& command) {
  SimulateOptions& simulate = command.simulate;
  if (simulate.sample_sets == 1) return "";
  const bool wants_cycles = app.count("--detail") > 0 && simulate.cycles;
  simulate.cycles = false;
  if (wants_cycles)
    return "--sets and --detail core: cycles need all accesses, not those of a sample";
  const bool has_locality = simulate.locality != simulate::Locality::off;
  if (has_locality && simulate.sample_first == 0) simulate.sample_first = kUsualFirst;
  return command.machine == "none" ? "--sets and --machine none: there are no sets to sample" : "";
}

}  // namespace

std::string check_simulation(const CLI::App& app, RecordCommand& command) {
  SimulateOptions& simulate = command.simulate;
  if (simulate.budget_ns != 0 && app.count("--windows") == 0) {
    command.windows_by_budget = true;
    simulate.windows.per_million = counting::kUsualWindows;
  }
  if (const std::string problem = check_windows(command); !problem.empty()) return problem;
  // Which data is waited for is what locality is asked for.
  if (simulate.locality != simulate::Locality::off && app.count("--objects") == 0) {
    simulate.objects = true;
  }
  if (const std::string problem = check_sets(app, command); !problem.empty()) return problem;
  command.windows_by_time = command.record.engine == EngineChoice::timer_and_simulate &&
                            app.count("--windows") == 0 && !command.windows_by_budget &&
                            may_have_windows(command);
  return "";
}

}  // namespace culprit

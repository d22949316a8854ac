#include "calibrate/calibrate.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <random>
#include <unistd.h>

#include "base/time.h"
#include "calibrate/chase.h"
#include "calibrate/figures.h"
#include "calibrate/kernels.h"
#include "host/clock.h"
#include "stats/robust.h"

namespace culprit {
namespace {

using simulate::MachineModel;

constexpr double kAimNs = 3e6;  // of each measurement
constexpr uint64_t kKib = 1024;

double to_cycles(const Round& round, double ns) {
  return ns * round.hertz / 1e9;
}

/// All that is measured, and the memory for it.
class Experiments {
 public:
  Experiments(const MachineModel& machine, uint64_t most_bytes)
      : machine_(machine), most_bytes_(find_room(most_bytes)) {
    add_walks();
    add_pages();
    add_reading();
    add_branches();
    add_others();
  }

  [[nodiscard]] size_t size() const { return experiments_.size(); }
  void run(size_t experiment, Round& round) const { experiments_[experiment](round); }

 private:
  void add(std::function<void(Round&)> experiment) {
    experiments_.push_back(std::move(experiment));
  }

  const Memory* take(uint64_t bytes, Memory::Pages pages) {
    auto memory = std::make_unique<Memory>(bytes, pages);
    if (memory->data() == nullptr) return nullptr;
    memories_.push_back(std::move(memory));
    return memories_.back().get();
  }

  void add_walks() {
    std::shared_ptr<Chase> largest;
    for (uint64_t bytes = 8 * kKib; bytes <= most_bytes_; bytes *= 2) {
      for (const uint64_t size : {bytes, bytes + bytes / 2}) {
        if (size > most_bytes_) continue;
        const Memory* const memory = take(size, Memory::Pages::large);
        if (memory == nullptr) continue;
        largest = std::make_shared<Chase>(list_lines(*memory, machine_.line_bytes));
        add([size, walk = largest](Round& round) {
          round.walk[size] = to_cycles(round, walk->measure_ns(kAimNs));
        });
      }
    }
    if (!largest) return;
    for (const size_t walks : {1UL, 2UL, 4UL, 8UL, 12UL, 16UL, 24UL, 32UL, 48UL}) {
      add([walks, largest](Round& round) {
        round.walks[walks] = to_cycles(round, largest->measure_many_ns(walks, kAimNs));
      });
    }
  }

  void add_pages() {
    constexpr size_t kPages = 256;
    if (const Memory* const memory = take(kPages * 4 * kKib, Memory::Pages::small)) {
      add([walk = std::make_shared<Chase>(list_pages(*memory, kPages, machine_.line_bytes))](
              Round& round) { round.pages = to_cycles(round, walk->measure_ns(kAimNs)); });
    }
    const uint64_t size = most_bytes_ / 2;
    if (const Memory* const memory = take(size, Memory::Pages::small)) {
      add([size, walk = std::make_shared<Chase>(list_lines(*memory, machine_.line_bytes))](
              Round& round) { round.small[size] = to_cycles(round, walk->measure_ns(kAimNs)); });
    }
  }

  void add_reading() {
    for (const uint64_t bytes :
         {machine_.l2.size_bytes / 2, 2 * machine_.l2.size_bytes, most_bytes_ / 2}) {
      if (bytes < 4 * kKib || bytes > most_bytes_) continue;
      const Memory* const memory = take(bytes, Memory::Pages::large);
      if (memory == nullptr) continue;
      add([bytes, memory](Round& round) {
        round.reading[bytes] = 1 / to_cycles(round, measure_reading_ns(*memory, kAimNs));
      });
    }
  }

  void add_branches() {
    constexpr size_t kBranches = 1 << 20;
    auto random_values = std::make_shared<std::vector<uint8_t>>(kBranches);
    std::mt19937_64 random;  // NOLINT: the same in every run
    for (uint8_t& value : *random_values) value = static_cast<uint8_t>(random());
    auto known_values = std::make_shared<std::vector<uint8_t>>(kBranches, uint8_t{200});
    add([random_values](Round& round) {
      round.random_branch = to_cycles(round, measure_branches_ns(*random_values));
    });
    add([known_values](Round& round) {
      round.known_branch = to_cycles(round, measure_branches_ns(*known_values));
    });
  }

  void add_others() {
    if (const Memory* const memory = take(64 * 4 * kKib, Memory::Pages::large)) {
      add([memory](Round& round) {
        round.one_set = to_cycles(round, measure_one_set_ns(*memory));
      });
    }
    add([](Round& round) {
      if (const std::optional<double> ns = measure_transfer_ns()) {
        round.transfer = to_cycles(round, *ns);
      }
    });
  }

  MachineModel machine_;
  uint64_t most_bytes_;
  std::vector<std::unique_ptr<Memory>> memories_;
  std::vector<std::function<void(Round&)>> experiments_;
};

/// What others changed, as far as they ran on this machine, is no figure of it.
void drop_disturbed(const std::optional<Neighbours>& neighbours, std::vector<Figure>& figures) {
  constexpr double kQuiet = 0.1;  // CPUs
  if (!neighbours || neighbours->busy_cpus + neighbours->stolen_cpus <= kQuiet) return;
  for (Figure& figure : figures) {
    if (!figure.is_shared || !figure.is_kept()) continue;
    figure.dropped = fmt::format("others kept {:.1f} CPUs busy meanwhile, and had {:.1f} of ours",
                                 neighbours->busy_cpus, neighbours->stolen_cpus);
  }
}

}  // namespace

uint64_t find_room(uint64_t wanted) {
  const auto pages = ::sysconf(_SC_AVPHYS_PAGES);
  const auto page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return wanted;
  constexpr uint64_t kPart = 16;
  return std::min(wanted, static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) / kPart);
}

Calibration calibrate(const MachineModel& machine, const CalibrationOptions& options,
                      const std::function<bool()>& is_interrupted,
                      const std::function<void(double done)>& progress) {
  const uint64_t start = monotonic_ns();
  const Experiments experiments(machine, options.most_bytes);
  Calibration calibration;
  std::vector<Round> rounds;
  std::vector<double> clocks;
  std::vector<Curve> curves;
  const std::optional<BusyTime> before = read_busy_time();
  const auto steps = static_cast<double>(options.rounds * experiments.size());
  for (size_t number = 0; number < options.rounds && !is_interrupted(); ++number) {
    Round round;
    for (size_t i = 0; i < experiments.size() && !is_interrupted(); ++i) {
      // The clock of just now: it changes with load and heat.
      if (const double hertz = measure_clock_burst(); hertz > 0) {
        round.hertz = hertz;
        clocks.push_back(hertz);
      }
      experiments.run(i, round);
      progress(static_cast<double>(number * experiments.size() + i + 1) / steps);
    }
    if (is_interrupted()) break;
    curves.push_back(round.walk);
    rounds.push_back(std::move(round));
  }
  calibration.is_complete = rounds.size() == options.rounds;
  calibration.rounds = rounds.size();
  calibration.curve = summarize_curves(curves);
  if (const std::optional<BusyTime> after = read_busy_time(); before && after) {
    calibration.neighbours = compute_neighbours(*before, *after);
  }
  FoundFigures found = find_figures(rounds, machine);
  calibration.figures = std::move(found.figures);
  calibration.lacks = std::move(found.lacks);
  drop_disturbed(calibration.neighbours, calibration.figures);
  if (!clocks.empty()) calibration.hertz = compute_median(clocks);
  calibration.seconds = static_cast<double>(monotonic_ns() - start) / 1e9;
  return calibration;
}

}  // namespace culprit

#pragma once

// SimulatedProfile: counts per site become columns of the histograms: one context per thread,
// one event per thing that is counted, each place an image and an offset in it.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "model/builder.h"
#include "recording/held_images.h"
#include "recording/jit_code.h"
#include "recording/recording.h"
#include "records/address_spaces.h"
#include "records/process_table.h"
#include "simulate/counts/tenures_file.h"
#include "simulate/counts_reader.h"
#include "simulate/machine/set_sample.h"
#include "simulate/simulated_events.h"
#include "simulate/simulated_regions.h"
#include "simulate/window_estimates.h"

namespace culprit {

class SimulatedProfile {
 public:
  /// `detail`: what was modelled; its events are there. `sample`: all, unless it says "sampled".
  /// `branches`: whether to keep where branches went.
  SimulatedProfile(SimulatedDetail detail, simulate::SetSample sample, bool branches = true);

  ProfileBuilder& builder() { return builder_; }

  /// While a process lives its files can be found for certain: opens those that are new.
  void see(const CountsSummary& summary);
  /// All that one process image has counted, once, and what became of its lines.
  /// Errors: those of CountsFile::visit_threads(); what was read before is there.
  Result<void> add(const CountsFile& file, const counting::Tenures& tenures);

  /// A copy of what there is so far.
  [[nodiscard]] Profile so_far() const;
  /// All processes have ended: where no sample of sets was drawn, misses are those of all sets.
  void settle_sample();
  /// Gives everything away.
  Recording finish();

  /// Executed so far, as the event `instructions` has it.
  [[nodiscard]] uint64_t instructions() const { return instructions_; }
  /// The sum of the threads' own sums: each turn of a repeated string instruction is one.
  [[nodiscard]] uint64_t executions() const { return executions_; }
  /// Whether a sample of sets began in any process.
  [[nodiscard]] bool has_drawn_sets() const { return has_drawn_sets_; }
  /// Whether anything is estimated, as it is with windows.
  [[nodiscard]] bool has_estimates() const { return has_estimates_; }

 private:
  struct Place {
    Mapping mapping;
    bool has_file = false;
  };
  Place intern(uint32_t pid, const counts_file::MappedRange& mapping, const std::string& path);
  Location locate(const ProcessCounts& counts, const std::vector<Place>& places, uint64_t address,
                  uint32_t mapping);
  using SiteOf = std::function<SimulatedSite(uint32_t)>;
  using LocateAny = std::function<Location(uint32_t)>;
  /// Adds all that a thread has counted where nothing is of a data object or of a sample of sets:
  /// whole histograms. `windows`: of a run in windows.
  void add_sites(const ThreadCounts& thread, ContextId context, const SiteOf& site_of,
                 const LocateAny& locate, const std::optional<WindowEstimates>& windows);
  [[nodiscard]] size_t instructions_event() const;
  void count_executions(const SimulatedSite& site);
  /// `object`: of a site of one; nullopt: an instruction's own.
  void add_site(const SimulatedSite& site, ContextId context, const Location& location,
                std::optional<ObjectId> object);
  /// Adds what a sample of sets tells of a site, which has no cycles.
  void add_sampled_site(const SimulatedSite& site, const counts_file::CertainMisses& certain,
                        uint32_t weight, double design_effect, ContextId context,
                        const Location& location, std::optional<ObjectId> object);
  void note_sample(const ProcessCounts& counts);
  void finish_windows();
  /// The process's objects, by their numbers.
  std::vector<ObjectId> add_objects(const ProcessCounts& counts, const std::vector<Place>& places,
                                    const LocateAny& locate);
  void add_offsets(const ProcessCounts& counts, const std::vector<ObjectId>& objects,
                   const LocateAny& locate, ContextId context);
  ObjectId intern_object(const DataObject& object);
  DataObject describe_object(const ProcessCounts& counts, const CountedObject& object,
                             const std::vector<Place>& places, const LocateAny& locate);
  struct SitePlace {
    Location location;
    bool is_float = false;
    std::optional<ObjectId> object{};  // nullopt: an instruction's own, of none
  };
  using LocateSite = std::function<std::optional<SitePlace>(uint32_t)>;
  using FindContext = std::function<ContextId(uint32_t)>;  // of a thread, by its number
  void add_tenures(const counting::Tenures& tenures, uint32_t weight, const LocateSite& locate,
                   const FindContext& context_of);
  void add_to_ledger(const ProcessCounts& counts);
  void check_sum();

  std::vector<SimulatedEvent> events_;
  simulate::SetSample sample_;
  ProfileBuilder builder_;
  ProcessTable tasks_;
  HeldImages images_;
  JitCode jit_;
  ImageId anonymous_;
  bool has_objects_ = false;
  SimulatedRegions regions_{builder_};
  std::map<DataObject, ObjectId> object_ids_;  // without what is added up
  bool keeps_branches_;
  uint64_t instructions_ = 0;
  uint64_t executions_ = 0;
  uint64_t unknown_costs_ = 0;        // executions
  bool has_drawn_sets_ = false;       // in some process a sample of sets began
  bool has_shared_accesses_ = false;  // which data objects some accesses are of is estimated
  bool has_estimates_ = false;        // of windows: not all was in the beginnings of processes
  uint64_t not_covered_ = 0;          // instructions that no window met
  std::set<std::pair<uint32_t, uint64_t>> forks_seen_;
};

}  // namespace culprit

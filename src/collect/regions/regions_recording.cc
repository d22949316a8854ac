#include "collect/regions/regions_recording.h"

#include <cstdlib>
#include <time.h>

#include "base/file.h"
#include "collect/regions/guest/protocol.h"
#include "collect/regions/open_regions.h"
#include "collect/regions/region_files.h"
#include "collect/regions/region_profile.h"
#include "collect/timer/posix_timer_check.h"
#include "recording/scoped_environment.h"

namespace culprit {
namespace {

// One process with sixteen threads needs so much.
constexpr uint64_t kRoomBytes =
    sizeof(culprit_region_paths) +
    uint64_t{16} * (sizeof(culprit_region_thread) + sizeof(culprit_region_log) +
                    sizeof(culprit_region_counts));
constexpr uint64_t kShortestNs = 10'000'000;

}  // namespace

RegionsRecording::RegionsRecording(SharedFolder folder, const std::string& shim_path)
    : folder_(std::move(folder)),
      start_(read_both_clocks()),
      sampled_(std::make_unique<SampledRegions>(folder_.path(), start_)) {
  environment_["LD_PRELOAD"] = preload_first(shim_path);
  // Kokkos, ITT and NVTX ask for their tool by name; a tool of the user's own has it.
  for (const char* name : {"KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY", "INTEL_LIBITTNOTIFY64",
                           "NVTX_INJECTION64_PATH"})
    if (std::getenv(name) == nullptr) environment_[name] = shim_path;
  environment_[CULPRIT_ENV_REGIONS] = folder_.path();
  environment_[CULPRIT_ENV_REGIONS_CLOCK] = has_steady_counter() ? "tsc" : "monotonic";
}

Result<RegionsRecording> RegionsRecording::prepare(const std::vector<std::string>& command,
                                                   const std::string& shim_path,
                                                   const RegionRequests& requests) {
  if (const Result<void> loads = check_preloadable(command); !loads) {
    return Error{loads.error().message +
                 "; --regions needs a library inside the program (leave --regions out)"};
  }
  if (shim_path.empty() || !file_exists(shim_path)) {
    return Error{"cannot find libculprit_regions.so: keep it beside culprit"};
  }
  if (shim_path.find_first_of(" :") != std::string::npos) {
    return Error{"cannot preload '" + shim_path +
                 "': the dynamic linker takes no spaces or colons in such a path"};
  }
  ASSIGN_OR_RETURN(SharedFolder folder, SharedFolder::make(kRoomBytes));
  RETURN_IF_ERROR(write_region_requests(folder.path(), requests));
  RegionsRecording recording(std::move(folder), shim_path);
  for (const RegionFunction& function : requests.functions) {
    recording.functions_.push_back(function.name);
  }
  return recording;
}

RegionsRecording::Outcome RegionsRecording::add_to(Profile& profile,
                                                   const std::vector<EventId>& counters) {
  ClockMoment end = read_both_clocks();
  if (end.monotonic_ns - start_.monotonic_ns < kShortestNs) {
    const timespec rest{0, static_cast<long>(kShortestNs)};
    ::nanosleep(&rest, nullptr);
    end = read_both_clocks();
  }
  RegionFiles files = read_region_files(folder_.path());
  for (RegionProcess& process : files.processes) {
    add_open_regions(process, sampled_->find_end_ticks(process));
  }
  Outcome outcome;
  outcome.remarks = add_regions(files, compute_tick_ns(start_, end), {functions_, counters},
                                sampled_->rows(), profile);
  outcome.constructs = count_constructs(profile);
  return outcome;
}

}  // namespace culprit

// libFuzzer target: what a user types after -e, on machines of several kinds, and as an
// event of another CPU.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "events/event_request.h"
#include "events/test_sysfs.h"

namespace {

using namespace culprit;

constexpr const char* kSeeds[] = {
    "cycles:u,{instructions,cpu/event=0xc0,umask=1,cmask=2,inv/k}:pp,r1c0",
    "L1-dcache-load-misses:upp,mem:0x1000/8:rw:u,sched:sched_switch,task-clock",
    "cpu_core/mem-loads,ldlat=30,name='a,b'/P,cpu_*/config=0x1,period=100/",
    "uncore_imc/cas_count_read/,power/energy-pkg/,armv8_pmuv3_0/r11/GHIDeS",
    "icx::UOPS_RETIRED:STALL_CYCLES:c=2:i:u",
    "spr::OFFCORE_REQUESTS_OUTSTANDING:L3_MISS_DEMAND_DATA_RD:c=6",
    "INST_RETIRED.ANY_P:u:precise=2",
};

/// Every word of a request is as it was promised.
void check(const EventRequest& request) {
  if (request.precise_level > 3) __builtin_trap();
  if (request.name.empty() || request.pmu.empty()) __builtin_trap();
  if (request.period && request.frequency_hz) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  if (*count < 2) return 0;
  const std::filesystem::path corpus((*arguments)[*count - 1]);
  std::error_code error;
  if (!std::filesystem::is_directory(corpus, error)) return 0;
  for (size_t i = 0; i < std::size(kSeeds); ++i) {
    std::ofstream(corpus / ("seed" + std::to_string(i)), std::ios::binary) << kSeeds[i];
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const PmuCatalog catalogs[] = {MadeSysfs::server(), MadeSysfs::hybrid(), MadeSysfs::arm(),
                                        *read_pmu_catalog()};
  const std::string spec(reinterpret_cast<const char*>(data), size);
  for (const PmuCatalog& catalog : catalogs) {
    const auto groups = parse_events(std::span(&spec, 1), catalog);
    if (!groups) {
      if (groups.error().message.empty()) __builtin_trap();
      continue;
    }
    for (const EventGroup& group : *groups) {
      if (group.members.empty()) __builtin_trap();
      for (const EventRequest& request : group.members) check(request);
    }
  }
  const size_t colons = spec.find("::");
  const std::string cpu = colons == std::string::npos ? "icx" : spec.substr(0, colons);
  const auto foreign =
      encode_for(cpu, colons == std::string::npos ? spec : spec.substr(colons + 2));
  if (foreign) check(*foreign);
  return 0;
}

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

// The first byte says on which machine.
constexpr const char* kSeeds[] = {
    "0cycles:u,{instructions,cpu/event=0xc0,umask=1,cmask=2,inv/k}:pp,r1c0",
    "0uncore_imc/cas_count_read/,power/energy-pkg/:u,cpu_*/config=0x1,period=100/",
    "1{cycles,cpu_core/mem-loads,ldlat=30,name='a,b'/P},task-clock:D",
    "2armv8_pmuv3_0/r11/GHI,mem:0x1000/8:rw:u,sched:sched_switch",
    "3INST_RETIRED.ANY_P:u:precise=2,icl::UOPS_RETIRED:SLOTS:c=2:i:pp",
    "4icx::UOPS_RETIRED:STALL_CYCLES:c=2:i:u",
    "4spr::OFFCORE_REQUESTS_OUTSTANDING:L3_MISS_DEMAND_DATA_RD:c=6",
    "4power9::PM_RUN_CYC:k",
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
  if (size == 0) return 0;
  const std::string spec(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t machine = (data[0] - '0' + 256U) % (std::size(catalogs) + 1);
  if (machine == std::size(catalogs)) {
    const size_t colons = spec.find("::");
    if (colons == std::string::npos) return 0;
    const auto foreign = encode_for(spec.substr(0, colons), spec.substr(colons + 2));
    if (foreign) check(*foreign);
    return 0;
  }
  const auto groups = parse_events(std::span(&spec, 1), catalogs[machine]);
  if (!groups) {
    if (groups.error().message.empty()) __builtin_trap();
    return 0;
  }
  for (const EventGroup& group : *groups) {
    if (group.members.empty()) __builtin_trap();
    for (const EventRequest& request : group.members) check(request);
  }
  return 0;
}

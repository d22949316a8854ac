// What counting by data object takes, on a trace of a real program: reads what valgrind's lackey
// writes (and allocations.c between its lines), by object_slots.sh.
//
// Objects: a heap block's is its allocation site, the stack is one, everything else is one per
// page of 4 KiB (a stand-in for globals). Slots as docs/decisions/0010 has them: one for each
// (instruction, object), the last one in front, at most `cap` for an instruction, then "other
// objects". Times are the replay's: which object an address belongs to is known.

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include "model/merge.h"
#include "store/profile_file.h"

using namespace culprit;

namespace {

struct Access {
  uint32_t instruction;
  uint32_t object;
};

struct Trace {
  std::vector<Access> accesses;
  size_t instructions = 0;
  std::vector<uint64_t> offsets;  // of instructions: their addresses
  size_t objects = 0;
  std::set<std::pair<uint64_t, uint32_t>> places;  // (megabyte of code: about an image, object)
};

Trace read_trace(size_t most) {
  Trace trace;
  std::unordered_map<uint64_t, uint32_t> instructions;
  std::unordered_map<uint64_t, uint32_t> objects;
  struct Block {
    uint64_t end;
    uint64_t site;
  };
  std::map<uint64_t, Block> blocks;
  char line[256];
  uint64_t at = 0;
  while (trace.accesses.size() < most && std::fgets(line, sizeof line, stdin) != nullptr) {
    uint64_t site = 0;
    uint64_t address = 0;
    uint64_t bytes = 0;
    if (std::sscanf(line, "A %" SCNx64 " %" SCNx64 " %" SCNx64, &site, &address, &bytes) == 3) {
      auto from = blocks.lower_bound(address);
      while (from != blocks.end() && from->first < address + bytes) from = blocks.erase(from);
      blocks[address] = {address + bytes, site};
    } else if (std::sscanf(line, "I %" SCNx64, &address) == 1) {
      at = address;
    } else if (line[0] == ' ' && std::strchr("LSM", line[1]) != nullptr &&
               std::sscanf(line + 2, "%" SCNx64, &address) == 1) {
      uint64_t object = address >> 12;
      if (address >= 0x1ffe000000 && address < 0x2000000000) object = 1;  // valgrind's stack
      auto block = blocks.upper_bound(address);
      if (block != blocks.begin() && address < (--block)->second.end) {
        object = block->second.site | uint64_t{1} << 63;
      }
      const uint32_t what =
          objects.try_emplace(object, static_cast<uint32_t>(objects.size())).first->second;
      const uint32_t who =
          instructions.try_emplace(at, static_cast<uint32_t>(instructions.size())).first->second;
      if (who == trace.offsets.size()) trace.offsets.push_back(at);
      trace.accesses.push_back({who, what});
      trace.places.emplace(at >> 20, what);
    }
  }
  trace.instructions = instructions.size();
  trace.objects = objects.size();
  return trace;
}

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct Slot {
  uint32_t object;
  uint32_t next;  // of the same instruction; 0: none
  uint64_t count;
};

struct Site {
  uint32_t first = 0;  // the slot that was used last
  uint32_t slots = 0;
  uint64_t other = 0;
};

struct Outcome {
  double ns = 0;
  uint64_t other = 0;
  uint64_t last_hits = 0;
  std::vector<Slot> slots;
  std::vector<Site> sites;
};

/// The slot that was found comes to the front of its instruction's list.
Outcome count_by_object(const Trace& trace, uint32_t cap) {
  Outcome outcome;
  std::vector<Site>& sites = outcome.sites;
  std::vector<Slot>& slots = outcome.slots;
  sites.resize(trace.instructions);
  slots.resize(1);
  const double start = cpu_ns();
  for (const Access& access : trace.accesses) {
    Site& site = sites[access.instruction];
    uint32_t at = site.first;
    if (at != 0 && slots[at].object == access.object) {
      ++slots[at].count;
      ++outcome.last_hits;
      continue;
    }
    uint32_t before = 0;
    while (at != 0 && slots[at].object != access.object) {
      before = at;
      at = slots[at].next;
    }
    if (at == 0) {
      if (site.slots == cap) {
        ++site.other;
        continue;
      }
      at = static_cast<uint32_t>(slots.size());
      slots.push_back({access.object, 0, 0});
      ++site.slots;
    } else {
      slots[before].next = slots[at].next;
    }
    slots[at].next = site.first;
    site.first = at;
    ++slots[at].count;
  }
  outcome.ns = (cpu_ns() - start) / static_cast<double>(trace.accesses.size());
  uint64_t sum = 0;
  for (const Slot& slot : slots) sum += slot.count;
  for (const Site& site : sites) outcome.other += site.other;
  if (sum + outcome.other != trace.accesses.size()) std::abort();  // each is counted once
  return outcome;
}

/// What the counts take in a profile's file, with and without their objects.
uint64_t file_bytes(const Trace& trace, const Outcome& outcome, bool with_objects) {
  Profile profile;
  profile.contexts.emplace_back();
  profile.images.emplace_back();
  profile.events.emplace_back();
  profile.objects.resize(trace.objects + 1);
  std::vector<HistogramRow> rows;
  for (size_t site = 0; site < outcome.sites.size(); ++site) {
    const Location place{ImageId(0u), FileOffset(trace.offsets[site])};
    for (uint32_t at = outcome.sites[site].first; at != 0; at = outcome.slots[at].next) {
      const ObjectId object = with_objects ? ObjectId(outcome.slots[at].object + 1) : ObjectId();
      rows.push_back({ContextId(0u), place, {EventId(0u), 0, outcome.slots[at].count, 0}, object});
    }
  }
  profile.histograms = make_histograms(std::move(rows), profile.events);
  if (!with_objects) profile.objects.clear();
  const std::string path = "/tmp/object_slots." + std::to_string(getpid());
  Result<ProfileWriter> writer = ProfileWriter::create(path);
  if (!writer || !writer->close(profile)) std::abort();
  const uint64_t bytes = std::filesystem::file_size(path);
  std::filesystem::remove(path);
  return bytes;
}

double count_alone(const Trace& trace) {
  std::vector<uint64_t> counts(trace.instructions);
  const double start = cpu_ns();
  for (const Access& access : trace.accesses) ++counts[access.instruction];
  const double ns = (cpu_ns() - start) / static_cast<double>(trace.accesses.size());
  return counts[0] == ~uint64_t{0} ? 0 : ns;
}

}  // namespace

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "trace";
  const Trace trace = read_trace(argc > 2 ? static_cast<size_t>(std::atoll(argv[2])) : 5'000'000);
  if (trace.accesses.empty()) return std::fprintf(stderr, "%s: an empty trace\n", name), 1;
  std::printf("%s: %zu accesses, %zu instructions, %zu objects, %zu (code, object) pairs\n", name,
              trace.accesses.size(), trace.instructions, trace.objects, trace.places.size());
  std::printf("  without objects: %.2f ns an access\n", count_alone(trace));
  for (const uint32_t cap : {4u, 16u, 64u, ~0u}) {
    Outcome best = count_by_object(trace, cap);
    for (int round = 0; round < 4; ++round) {
      const Outcome again = count_by_object(trace, cap);
      if (again.ns < best.ns) best = again;
    }
    const size_t slots = best.slots.size() - 1;
    const auto all = static_cast<double>(trace.accesses.size());
    std::printf(
        "  cap %4d: %.2f ns, %7zu slots (%.2f an instruction), %7.1f KiB, last one %.1f %%, other "
        "objects %.2f %%\n",
        static_cast<int>(cap), best.ns, slots,
        static_cast<double>(slots) / static_cast<double>(trace.instructions),
        static_cast<double>(slots * sizeof(Slot) + trace.instructions * sizeof(Site)) / 1024,
        100 * static_cast<double>(best.last_hits) / all,
        100 * static_cast<double>(best.other) / all);
  }
  const Outcome whole = count_by_object(trace, ~0u);
  std::printf("  file: %" PRIu64 " bytes without objects, %" PRIu64 " with\n",
              file_bytes(trace, whole, false), file_bytes(trace, whole, true));
  return 0;
}

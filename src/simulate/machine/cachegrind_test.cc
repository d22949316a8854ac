// The caches against an implementation that is not ours: the memory trace of a program
// (valgrind's lackey), replayed on cachegrind's geometry, must miss as often as cachegrind
// says that the same program does.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "base/file.h"
#include "simulate/machine/test_machine.h"

namespace culprit::simulate {
namespace {

struct PipeCloser {
  void operator()(FILE* pipe) const { pclose(pipe); }
};
using Pipe = std::unique_ptr<FILE, PipeCloser>;

Pipe run(const std::string& command) {
  return Pipe(popen(command.c_str(), "r"));
}

/// Read, write and fetch misses of the first and of the last level.
struct TraceMisses {
  std::array<uint64_t, 3> first{};
  std::array<uint64_t, 3> last{};

  void add(size_t kind, const Outcome& outcome) {
    first[kind] += outcome.source != DataSource::l1 ? 1 : 0;
    last[kind] += outcome.source == DataSource::memory ? 1 : 0;
  }
};
enum Kind : size_t { kRead, kWrite, kFetch };

/// Lines of lackey: "I  04001090,3", " L 1ffefffe7c,8", " S ...", " M ..." (load, then store).
TraceMisses replay(FILE* trace, CoreState& core) {
  TraceMisses misses;
  char line[256];
  while (std::fgets(line, sizeof line, trace) != nullptr) {
    unsigned long address = 0;
    unsigned bytes = 0;
    if (std::sscanf(line + 3, "%lx,%u", &address, &bytes) != 2) continue;
    if (line[0] == 'I') misses.add(kFetch, fetch(core, address, bytes, 1));
    if (line[0] != ' ') continue;
    if (line[1] == 'L' || line[1] == 'M') misses.add(kRead, load(core, address, bytes));
    if (line[1] == 'S') misses.add(kWrite, store(core, address, bytes));
    if (line[1] == 'M') store(core, address, bytes);
  }
  return misses;
}

/// The last line of cachegrind's file: "summary: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw".
bool read_summary(FILE* file, TraceMisses& misses) {
  char line[512];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    unsigned long ir = 0, i1 = 0, il = 0, dr = 0, d1r = 0, dlr = 0, dw = 0, d1w = 0, dlw = 0;
    if (std::sscanf(line, "summary: %lu %lu %lu %lu %lu %lu %lu %lu %lu", &ir, &i1, &il, &dr, &d1r,
                    &dlr, &dw, &d1w, &dlw) == 9) {
      misses.first = {d1r, d1w, i1};
      misses.last = {dlr, dlw, il};
      return true;
    }
  }
  return false;
}

TEST(Cachegrind, CountsTheSameMissesOfAProgram) {
  if (std::system("command -v valgrind >/dev/null") != 0) GTEST_SKIP() << "no valgrind here";
  const std::string program = " /bin/ls -l /usr/include 2>&1 >/dev/null";
  TraceMisses theirs;
  // Small caches, so that a short program misses often.
  const TemporaryFolder folder = *TemporaryFolder::make();
  const Pipe summary =
      run("valgrind -q --tool=cachegrind --cache-sim=yes --I1=8192,2,64 --D1=8192,4,64 "
          "--LL=131072,8,64 --cachegrind-out-file=" +
          folder.path() + "/out" + program + "; cat " + folder.path() + "/out");
  ASSERT_TRUE(summary);
  if (!read_summary(summary.get(), theirs)) GTEST_SKIP() << "valgrind does not run here";

  MachineModel machine = plain_machine(8192, 4, 131072, 8);
  machine.l1i = {8192, 2};
  const auto memory = make_hierarchy(machine);
  const Pipe trace = run("valgrind --tool=lackey --trace-mem=yes" + program);
  ASSERT_TRUE(trace);
  const TraceMisses ours = replay(trace.get(), memory->add_core());

  // lackey and cachegrind give the program different environments: addresses of its first
  // stack frames, a few loads more or less. And of an access across lines of which one misses
  // the first level, cachegrind asks the last level for both.
  for (const Kind kind : {kRead, kWrite, kFetch}) {
    EXPECT_GT(theirs.first[kind], 1000U);
    EXPECT_NEAR(static_cast<double>(ours.first[kind]), static_cast<double>(theirs.first[kind]),
                20 + 0.001 * static_cast<double>(theirs.first[kind]))
        << kind;
    EXPECT_NEAR(static_cast<double>(ours.last[kind]), static_cast<double>(theirs.last[kind]),
                20 + 0.001 * static_cast<double>(theirs.last[kind]))
        << kind;
    std::printf("misses of kind %zu: first level %lu, cachegrind %lu; last level %lu, %lu\n",
                static_cast<size_t>(kind), ours.first[kind], theirs.first[kind], ours.last[kind],
                theirs.last[kind]);
  }
}

}  // namespace
}  // namespace culprit::simulate

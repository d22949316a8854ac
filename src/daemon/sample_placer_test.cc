#include "daemon/sample_placer.h"

#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <unistd.h>

#include "base/file.h"

namespace culprit {
namespace {

who_record make_who(uint32_t pid, uint64_t start_ns, uint32_t has_own_code) {
  who_record record{};
  record.id = 1;
  record.key.pid = pid;
  record.key.start_ns = start_ns;
  record.key.has_own_code = has_own_code;
  return record;
}

/// When this process began, by the 22nd field of its line (proc(5)); its name has no blanks.
uint64_t own_start_ns() {
  std::istringstream line(read_file("/proc/self/stat").value_or(""));
  std::string field;
  for (int i = 0; i < 22; ++i) line >> field;
  return std::stoull(field) * (1'000'000'000 / static_cast<uint64_t>(::sysconf(_SC_CLK_TCK)));
}

void drain(SamplePlacer& placer, int times) {
  for (int i = 0; i < times; ++i) {
    placer.begin_drain();
    placer.end_drain();
  }
}

/// Not only once: its compiler puts other code where some was.
TEST(SamplePlacer, AProcessWithCodeOfItsOwnIsAskedWhileItLives) {
  const pid_t self = ::getpid();
  const auto start_ns = own_start_ns();
  SamplePlacer placer;
  EXPECT_FALSE(placer.has_processes_to_ask());
  placer.note_who(make_who(static_cast<uint32_t>(self), start_ns, 0));
  EXPECT_FALSE(placer.has_processes_to_ask());
  placer.note_who(make_who(static_cast<uint32_t>(self), start_ns, 1));
  drain(placer, 40);
  EXPECT_TRUE(placer.has_processes_to_ask());
}

TEST(SamplePlacer, AProcessThatIsGoneIsForgotten) {
  SamplePlacer placer;
  constexpr uint32_t kNobody = 0x7fffffff;
  placer.note_who(make_who(kNobody, own_start_ns(), 1));
  EXPECT_TRUE(placer.has_processes_to_ask());
  drain(placer, 40);
  EXPECT_FALSE(placer.has_processes_to_ask());
}

}  // namespace
}  // namespace culprit

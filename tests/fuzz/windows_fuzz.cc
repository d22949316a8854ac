// Windows of a simulation (PATH.windows), which the simulated program can reach: damaged ones are
// an error, and what is estimated from any others are numbers.
//
// The input is the file of windows, beside a small counts file that is right.

#include <cmath>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <unistd.h>

#include "base/file.h"
#include "simulate/counts_reader.h"
#include "simulate/simulated_events.h"
#include "simulate/window_estimates.h"

namespace {

namespace file = culprit::counts_file;
namespace counting = culprit::counting;

constexpr uint32_t kSites = 4;  // two blocks of two

std::string path_of_counts() {
  static auto folder = culprit::TemporaryFolder::make();
  CHECK(folder);
  return folder->path() + "/counts";
}

void put(int fd, uint64_t at, const void* bytes, size_t size) {
  CHECK(::pwrite(fd, bytes, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size));
}

/// Two blocks that ran 1,000 times, of which 100 were the beginning.
void write_counts(int fd) {
  file::Header header{};
  header.magic = file::kMagic;
  header.layout = file::kLayout;
  header.has_cycles = header.has_windows = 1;
  header.sites = header.block_sites = kSites;
  header.blocks = 2;
  header.mappings = 1;
  header.text_bytes = 16;
  header.cores = 1;
  put(fd, 0, static_cast<const void*>(&header), sizeof header);
  for (uint32_t site = 0; site < kSites; ++site) {
    put(fd, file::kBlockSitesStart + site * sizeof site, static_cast<const void*>(&site),
        sizeof site);
  }
  for (uint32_t number = 0; number < 2; ++number) {
    file::Block block{};
    block.first = 2 * number;
    block.sites = 2;
    put(fd, file::kBlocksStart + number * sizeof block, static_cast<const void*>(&block),
        sizeof block);
    const uint64_t runs = 1000;
    put(fd, file::core_start(0) + file::kRunsInCore + number * sizeof runs,
        static_cast<const void*>(&runs), sizeof runs);
  }
  CHECK(::ftruncate(fd, static_cast<off_t>(file::core_start(1))) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
  const std::string_view corpus = (*words)[*count - 1];
  if (!std::filesystem::is_directory(corpus)) return 0;
  const std::string seed = std::string(corpus) + "/seed";
  ::unlink(seed.c_str());
  counting::Window beginning;
  beginning.runs = {{0, 100}, {1, 100}};
  beginning.values = {{0, 1, 50}, {3, 2, 7}};
  CHECK(counting::append_window(seed, beginning));
  for (uint32_t number = 1; number < 4; ++number) {
    counting::Window window = beginning;
    window.number = number;
    window.segment = 1200;
    CHECK(counting::append_window(seed, window));
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = path_of_counts();
  const culprit::Fd windows(
      ::open(counting::windows_file_path(path).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
  CHECK(windows);
  put(windows.get(), 0, static_cast<const void*>(data), size);
  const culprit::Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600));
  CHECK(fd);
  write_counts(fd.get());
  const auto counts = culprit::CountsFile::read(fd.get(), path);
  if (!counts) {
    CHECK(!counts.error().message.empty());
    return 0;
  }
  CHECK(counts->process().sites.size() == kSites);
  const std::vector<culprit::SimulatedEvent> events = culprit::simulated_events(
      {.machine = true, .cycles = true, .sampled = false, .windows = true});
  const auto estimates = culprit::WindowEstimates::make(*counts, events);
  if (!estimates) {
    CHECK(!estimates.error().message.empty());
    return 0;
  }
  for (uint32_t site = 0; site < kSites; ++site) {
    for (size_t event = 0; event < events.size(); ++event) {
      const double variance = estimates->variance(site, event, 900);
      CHECK(!std::isnan(variance) && variance >= 0);
    }
  }
  return 0;
}

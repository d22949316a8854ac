// Whatever the bytes of a perf.data file, importing it ends with an error or a profile
// that has every sample it counted. Seeds: files laid out by hand in both forms and byte
// orders, and the small ones among those that others recorded, where they are.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <linux/perf_event.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "base/test_folders.h"
#include "perfdata/import.h"
#include "perfdata/test_file.h"

namespace culprit {
namespace {

using testing::Bytes;
using testing::TestEvent;
using testing::TestFile;
using testing::text_of;

uint64_t count_samples(const Profile& profile) {
  uint64_t samples = 0;
  for (const Histogram& histogram : profile.histograms) {
    CHECK(histogram.context.value < profile.contexts.size());
    CHECK(histogram.image.value < profile.images.size());
    for (const EventColumn& column : histogram.columns) {
      CHECK(column.event.value < profile.events.size());
      for (const uint64_t count : column.samples) samples += count;
    }
  }
  for (const StackCount& row : profile.stack_counts) {
    CHECK(row.stack.value < profile.stacks.size());
  }
  return samples;
}

void import_all(const std::string& path) {
  uint64_t flushed = 0;
  const Result<Imported> imported = import_perf_data({path},
                                                     [&](const Profile& profile) -> Result<void> {
                                                       flushed += count_samples(profile);
                                                       return {};
                                                     },
                                                     {});
  if (!imported) {
    CHECK(!imported.error().message.empty());
    return;
  }
  CHECK(flushed + count_samples(imported->profile) == imported->samples);
}

// --- seeds

std::string deflate(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  return packed;
}

Bytes text(Bytes bytes, std::string_view words) {
  return bytes.u32(static_cast<uint32_t>(words.size() + 1)).raw(words).u8(0);
}

void add_features(TestFile& file) {
  const Bytes none = file.bytes();
  Bytes build_id = none;
  build_id.u32(1).raw("0123456789abcdef0123").zeros(4).padded("/bin/a");
  Bytes ids = none;
  file.feature(2, ids.raw(text_of(Bytes::record(67, PERF_RECORD_MISC_USER, build_id))));
  for (const uint32_t kind : {3U, 4U, 5U, 6U}) file.feature(kind, text(none, "words"));
  Bytes cpus = none;
  file.feature(7, cpus.u32(4).u32(2));
  Bytes words = none;
  words.u32(2);
  file.feature(11, text(text(words, "perf"), "record"));
  Bytes event = none;
  event.u32(1).u32(TestEvent::kBytes).zeros(TestEvent::kBytes).u32(2);
  file.feature(12, text(event, "cycles:u").u64(71).u64(72));
  Bytes group = none;
  file.feature(17, text(group.u32(1), "{a,b}").u32(0).u32(2));
  Bytes times = none;
  file.feature(21, times.u64(1000).u64(2000));
  Bytes clock = none;
  file.feature(29, clock.u32(1).u32(4).u64(5'000'000).u64(900));
  Bytes kinds = none;
  file.feature(30, text(text(kinds.u32(1), "cpu_core"), "0-3"));
}

/// Two events with everything that a sample can have but AUX, the tasks' and the files' records.
TestFile make_file(std::endian order) {
  TestFile file(order);
  constexpr uint64_t kType = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                             PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD |
                             PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK |
                             PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT;
  constexpr uint64_t kRead = PERF_FORMAT_ID | PERF_FORMAT_GROUP;
  file.event({0, 0, 1000, kType, kRead, TestEvent::kSampleIdAll, 8, 0, 0, {71, 72}});
  file.event({0, 1, 1000, kType | PERF_SAMPLE_READ, kRead, TestEvent::kSampleIdAll, 8, 0, 0, {73}});
  uint64_t time = 1000;
  const auto with_trailer = [&](Bytes body) { return body.u32(5).u32(5).u64(++time).u64(71); };
  const Bytes none = file.bytes();
  Bytes kernel = none;
  kernel.u32(~0U).u32(0).u64(0xffffffff81000000).u64(1 << 24).u64(0xffffffff81000000);
  file.record(PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL,
              with_trailer(kernel.padded("[kernel.kallsyms]_text")));
  Bytes fork = none;
  file.record(PERF_RECORD_FORK, 0, with_trailer(fork.u32(5).u32(1).u32(5).u32(1).u64(1000)));
  Bytes comm = none;
  file.record(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC,
              with_trailer(comm.u32(5).u32(5).padded("prog")));
  Bytes map = none;
  map.u32(5).u32(5).u64(0x400000).u64(0x2000).u64(0x1000).u32(8).u32(1).u64(77).u64(0);
  file.record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER,
              with_trailer(map.u32(5).u32(2).padded("/bin/prog")));
  Bytes bpf = none;
  file.record(PERF_RECORD_KSYMBOL, 0,
              with_trailer(bpf.u64(0xffffffffc0000000).u32(64).u16(1).u16(0).padded("bpf_p")));
  const auto sample = [&](uint64_t id, uint64_t ip) {
    Bytes body = none;
    body.u64(id).u64(ip).u32(5).u32(5).u64(++time).u64(0xdada).u64(1000);
    if (id == 73) body.u64(2).u64(10 * time).u64(73).u64(20 * time).u64(71);
    body.u64(3).u64(uint64_t(PERF_CONTEXT_USER)).u64(ip).u64(0x400200);
    body.u64(2).u64(ip).u64(0x400100).u64(2).u64(0x400180).u64(0x400080).u64(1);
    return body.u64(30).u64(0x1'0000'0142);
  };
  file.record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sample(71, 0x400123));
  file.record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sample(73, 0x400124));
  file.record(68, 0, none);
  file.record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, sample(71, 0xffffffffc0000010));
  const std::string inner = text_of(
      Bytes::record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, sample(71, 0xffffffff81000010)));
  const std::string packed = deflate(inner + inner);
  Bytes compressed = none;
  file.record(81, 0, compressed.raw(packed));
  Bytes compressed2 = none;
  file.record(83, 0, compressed2.u64(packed.size()).padded(packed));
  Bytes aux = none;
  file.record(71, 0, aux.u64(8).u64(0).u64(0).u32(0).u32(5).u32(0).u32(0)).raw("auxtrace");
  Bytes update = none;
  file.record(78, 0, update.u64(2).u64(73).padded("instructions:u"));
  Bytes lost = none;
  file.record(PERF_RECORD_LOST, 0, with_trailer(lost.u64(71).u64(3)));
  Bytes exit = none;
  file.record(PERF_RECORD_EXIT, 0, with_trailer(exit.u32(5).u32(1).u32(5).u32(1).u64(1000)));
  add_features(file);
  return file;
}

void write_seeds(const std::filesystem::path& folder) {
  const auto write = [&](const char* name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    const bool is_little = order == std::endian::little;
    const TestFile file = make_file(order);
    write(is_little ? "little.file" : "big.file", file.file_form());
    write(is_little ? "little.pipe" : "big.pipe", file.pipe_form());
  }
  constexpr uintmax_t kSmall = 20'000;
  std::error_code absent;
  const std::filesystem::path shared = source_folder() + "/../shared/perfdata/files";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(shared, absent)) {
    if (!entry.is_regular_file() || entry.file_size() > kSmall) continue;
    std::filesystem::copy_file(entry.path(), folder / entry.path().filename(), absent);
  }
}

}  // namespace
}  // namespace culprit

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  for (int i = 1; i < *count; ++i) {
    const std::string folder = (*arguments)[i];
    if (folder.starts_with('-') || !std::filesystem::is_directory(folder)) continue;
    if (::access(folder.c_str(), W_OK) == 0) culprit::write_seeds(folder);
    break;  // others are only read
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int kFile = ::memfd_create("perf.data", MFD_CLOEXEC);
  CHECK(kFile >= 0 && ::ftruncate(kFile, 0) == 0);
  CHECK(::pwrite(kFile, data, size, 0) == static_cast<ssize_t>(size));
  culprit::import_all("/proc/self/fd/" + std::to_string(kFile));
  return 0;
}

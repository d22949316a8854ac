// How large a profile is, and how long it takes to load: printed, and held to the aim of
// 5 bytes an entry. The counts are shaped like real ones: runs of instructions in hot
// functions, gaps between them, few samples at most places and many at some.

#include <chrono>
#include <cmath>
#include <filesystem>
#include <random>

#include "store/test_files.h"

namespace culprit {
namespace {

constexpr size_t kEntries = 100'000;
constexpr uint64_t kPeriod = 1'001'003;

class FileSize : public StoreTest {
 protected:
  std::mt19937 random_{7};

  uint64_t below(uint64_t limit) { return random_() % limit; }

  /// Places in functions of about 40 instructions, of which half have samples.
  std::vector<FileOffset> offsets(size_t count) {
    std::vector<FileOffset> found;
    uint64_t at = 0x1000;
    while (found.size() < count) {
      at = (at + below(20'000)) & ~uint64_t{15};
      for (uint64_t i = 0; i < 40 && found.size() < count; ++i) {
        at += 2 + below(6);
        if (below(2) == 0) found.push_back(FileOffset(at));
      }
    }
    return found;
  }

  Profile typical_profile() {
    Profile p = small_profile();
    p.histograms.clear();
    std::geometric_distribution<uint64_t> few(0.4);
    for (uint32_t context = 0; context < 4; ++context) {
      const StringId label = p.strings.intern(std::to_string(context));
      if (context > 0) p.contexts.push_back({{}, {}, {}, Mode::user, {}, label});
      Histogram histogram{
          ContextId(context), ImageId(0u), offsets(kEntries / 4), {{EventId(0u), {}, {}, {}}}};
      for (size_t i = 0; i < histogram.offsets.size(); ++i) {
        const uint64_t samples = below(50) == 0 ? 10 + below(2000) : 1 + few(random_);
        histogram.columns[0].samples.push_back(samples);
        histogram.columns[0].value.push_back(samples * kPeriod);
      }
      p.histograms.push_back(std::move(histogram));
    }
    return p;
  }

  /// 5,000 functions, 100,000 inlined calls and 200,000 lines of C++ names.
  ImageFacts typical_facts() {
    ImageFacts facts;
    std::vector<StringId> names;
    for (int i = 0; i < 20'000; ++i) {
      names.push_back(facts.strings.intern(
          "std::vector<llvm::SmallVector<Node" + std::to_string(below(500)) +
          "*, 4>, std::allocator<int>>::emplace_back<Arg" + std::to_string(i) + ">(Arg const&)"));
    }
    std::vector<StringId> files;
    for (int i = 0; i < 400; ++i) {
      files.push_back(facts.strings.intern("/build/llvm/lib/part" + std::to_string(i) + ".cpp"));
    }
    uint64_t at = 0x1000;
    for (uint32_t i = 0; i < 5000; ++i) {
      facts.functions.push_back(
          {FileOffset(at), FileOffset(at + 800), names[i], names[i + 5000], files[i % 400], i});
      for (uint64_t j = 0; j < 20; ++j) {
        const FileOffset begin(at + j * 40);
        facts.inlines.push_back({begin, begin + 20 + below(20), 0, names[below(20'000)],
                                 files[below(400)], uint32_t(below(3000))});
      }
      for (uint64_t j = 0; j < 40; ++j) {
        facts.lines.push_back({FileOffset(at + j * 20), files[i % 400], uint32_t(below(3000)), 7});
      }
      at += 816;
    }
    return facts;
  }
};

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

TEST_F(FileSize, AHistogramEntryTakesLessThanFiveBytes) {
  write(small_profile());
  const auto small_bytes = std::filesystem::file_size(path_);
  std::filesystem::remove(path_);
  write(typical_profile());
  const auto large_bytes = std::filesystem::file_size(path_);
  const double per_entry = static_cast<double>(large_bytes - small_bytes) / double{kEntries};
  std::printf("%zu entries: %.2f bytes each; an almost empty profile: %zu bytes\n", kEntries,
              per_entry, size_t{small_bytes});
  EXPECT_LT(per_entry, 5);
}

TEST_F(FileSize, ManySmallFlushesAreUnitedAtTheEnd) {
  const Profile whole = typical_profile();
  write(whole);
  const auto one_bytes = std::filesystem::file_size(path_);
  std::filesystem::remove(path_);
  Result<ProfileWriter> writer = ProfileWriter::create(path_);
  ASSERT_GOOD(writer);
  Profile piece = whole;
  for (size_t first = 0; first < kEntries / 4; first += 500) {
    piece.histograms = whole.histograms;
    for (Histogram& histogram : piece.histograms) {
      const auto cut = [&](auto& column) {
        column = std::remove_reference_t<decltype(column)>(
            column.begin() + static_cast<ptrdiff_t>(first),
            column.begin() + static_cast<ptrdiff_t>(first + 500));
      };
      cut(histogram.offsets);
      cut(histogram.columns[0].samples);
      cut(histogram.columns[0].value);
    }
    ASSERT_TRUE(writer->flush(piece));
  }
  clear_counts(piece);
  ASSERT_TRUE(writer->close(piece));
  // The segments are the same; up to 32 pages of 2 KiB may be left free.
  EXPECT_LE(std::filesystem::file_size(path_), one_bytes + uint64_t{32} * 2048);
  const Result<Profile> got = read(path_);
  ASSERT_GOOD(got);
  EXPECT_EQ(got->histograms, whole.histograms);
}

TEST_F(FileSize, LoadsAHundredThousandPlacesFast) {
  Result<ProfileWriter> writer = ProfileWriter::create(path_);
  ASSERT_GOOD(writer);
  auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(writer->write_facts(ImageId(0u), typical_facts()));
  ASSERT_TRUE(writer->close(typical_profile()));
  const double write_ms = milliseconds_since(start);

  start = std::chrono::steady_clock::now();
  Result<ProfileReader> reader = ProfileReader::open(path_);
  ASSERT_GOOD(reader);
  const Result<Profile> profile = reader->read_profile();
  ASSERT_GOOD(profile);
  const double profile_ms = milliseconds_since(start);
  start = std::chrono::steady_clock::now();
  const auto facts = reader->read_facts(ImageId(0u), {FactPart::functions, FactPart::inlines});
  ASSERT_GOOD(facts);
  const double facts_ms = milliseconds_since(start);
  std::printf("%zu places: profile %.1f ms, functions and inlines %.1f ms; written in %.0f ms\n",
              kEntries, profile_ms, facts_ms, write_ms);
  EXPECT_EQ((*facts)->inlines.size(), 100'000u);
  EXPECT_LT(profile_ms + facts_ms, 2000);  // a build without optimization on a busy machine
}

}  // namespace
}  // namespace culprit

// What the bytes mean is checked by an independent decoder in tests/exports_test.py; here
// are the profiles that no recording makes.

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <zlib.h>

#include "attribute/test_profile.h"
#include "exports/exports.h"
#include "exports/gzip.h"
#include "exports/pprof_fields.h"
#include "model/counts.h"
#include "model/random_profile.h"
#include <protozero/pbf_message.hpp>

namespace culprit {

namespace {

using namespace pprof;

std::string gunzip(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  std::string buffer(1 << 16, '\0');
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  EXPECT_EQ(status, Z_STREAM_END);
  inflateEnd(&stream);
  return text;
}

struct Decoded {
  std::vector<std::string> strings;
  std::vector<int64_t> totals;
  size_t samples = 0, single_frame = 0, mappings = 0;
};

void add_sample(protozero::pbf_message<SampleField> sample, Decoded& to) {
  ++to.samples;
  while (sample.next()) {
    if (sample.tag() == SampleField::location_id) {
      const auto frames = sample.get_packed_uint64();
      if (frames.size() == 1) ++to.single_frame;
    } else if (sample.tag() == SampleField::value) {
      size_t type = 0;
      for (const int64_t value : sample.get_packed_int64()) {
        if (to.totals.size() == type) to.totals.push_back(0);
        to.totals[type++] += value;
      }
    } else {
      sample.skip();
    }
  }
}

Decoded decode(const Profile& profile, const FactsLookup& facts) {
  Decoded decoded;
  const auto packed = export_pprof(profile, facts);
  EXPECT_TRUE(packed);
  if (!packed) return decoded;
  const std::string bytes = gunzip(*packed);
  protozero::pbf_message<ProfileField> message(bytes);
  while (message.next()) {
    switch (message.tag()) {
      case ProfileField::sample:
        add_sample(message.get_message(), decoded);
        break;
      case ProfileField::string_table:
        decoded.strings.push_back(message.get_string());
        break;
      case ProfileField::mapping:
        ++decoded.mappings;
        message.skip();
        break;
      default:
        message.skip();
    }
  }
  return decoded;
}

TEST(Gzip, ComesBackTheSame) {
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += static_cast<char>(random());
  for (const std::string& one : {std::string(), std::string(1'000'000, 'x'), text}) {
    const auto packed = gzip(one, "");
    ASSERT_TRUE(packed);
    EXPECT_EQ(gunzip(*packed), one);
  }
}

TEST(Pprof, StacksAndTheRestAddUpToEverything) {
  TestProfile test = make_test_profile();
  add_test_stacks(test);
  const Decoded decoded = decode(test.profile, test.lookup());
  EXPECT_EQ(decoded.totals, (std::vector<int64_t>{1000, 1'000'000'000}));
  EXPECT_EQ(decoded.samples, 9u);       // 4 stacks; of 9 (thread, address) 4 are all stacks
  EXPECT_EQ(decoded.single_frame, 5u);  // the other five
  EXPECT_EQ(decoded.mappings, 4u);
  EXPECT_EQ(decoded.strings.at(0), "");
}

TEST(Pprof, TotalsAreTheReportsWhateverTheProfile) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    RandomProfile random(seed);
    random.grow();
    const Profile& profile = random.profile();
    const Decoded decoded = decode(profile, {});
    const Sums want = total_sums(profile);
    for (size_t event = 0; event < want.size(); ++event) {
      const double scaled = static_cast<double>(want[event].value) * profile.events[event].scale;
      // No event of a random profile is sampled: one type each, rounded to integers once.
      EXPECT_NEAR(static_cast<double>(decoded.totals.at(event)), scaled, 0.51) << seed;
    }
  }
}

TEST(Pprof, HostileNamesBecomePrintableText) {
  TestProfile test = make_test_profile();
  ImageFacts& facts = test.facts[ImageId(0u)];
  facts.functions[0].name =
      facts.strings.intern(std::string("nul\0 \n\xff", 7) + std::string(1'000'000, 'n'));
  const Decoded decoded = decode(test.profile, test.lookup());
  const auto found = std::find_if(decoded.strings.begin(), decoded.strings.end(),
                                  [](const std::string& s) { return s.starts_with("nul? ??nnn"); });
  ASSERT_NE(found, decoded.strings.end());
  EXPECT_EQ(found->size(), 1'000'007u);
}

TEST(Pprof, AnEmptyProfileIsAnEmptyProfile) {
  const Decoded decoded = decode(Profile{}, {});
  EXPECT_EQ(decoded.samples, 0u);
  EXPECT_EQ(decoded.strings.at(0), "");
}

}  // namespace

}  // namespace culprit

// Samples and executions at places that are known: what is joined, by hand.

#include "simulate/native_samples.h"

#include <gtest/gtest.h>

#include "model/profile_merger.h"

namespace culprit {
namespace {

/// A run of ./a.out (build-id "ab", behind a library in the native run, so that ids differ).
class Made {
 public:
  explicit Made(const char* engine, const char* event, Provenance provenance) {
    profile.runs.emplace_back();
    Event row;
    row.name = profile.strings.intern(event);
    row.engine = profile.strings.intern(engine);
    row.provenance = provenance;
    profile.events.push_back(row);
  }
  ImageId add_image(const char* build_id) {
    Image image;
    image.kind = ImageKind::program;
    image.path = profile.strings.intern("./a.out");
    image.build_id = build_id;
    profile.images.push_back(image);
    return ImageId(profile.images.size() - 1);
  }
  void add(ImageId image, Mode mode, uint64_t offset, uint64_t samples, uint64_t value) {
    Context context;
    context.run = RunId(0u);
    context.mode = mode;
    profile.contexts.push_back(context);
    Histogram histogram;
    histogram.context = ContextId(profile.contexts.size() - 1);
    histogram.image = image;
    histogram.offsets = {FileOffset(offset)};
    histogram.columns = {{EventId(0u), {samples}, {value}, {}}};
    profile.histograms.push_back(histogram);
  }
  Profile profile;
};

TEST(NativeSamples, AreJoinedByImageAndOffsetInUserMode) {
  Made native("timer", "cpu-clock", Provenance::sampled);
  const ImageId library = native.add_image("cd");
  const ImageId program = native.add_image("ab");
  native.add(program, Mode::user, 0x100, 70, 70'000'000);
  native.add(program, Mode::user, 0x104, 5, 5'000'000);  // never executed when simulated
  native.add(library, Mode::user, 0x100, 3, 3'000'000);  // the same offset of another file
  native.add(program, Mode::kernel, 0x100, 22, 22'000'000);
  Made simulated("simulate", "instructions", Provenance::counted);
  simulated.add(simulated.add_image("ab"), Mode::user, 0x100, 0, 1000);

  NativeSamples samples;
  samples.add(native.profile);
  ProfileMerger merger(native.profile);
  const std::vector<ImageId> became = merger.add(simulated.profile);
  EXPECT_EQ(became, std::vector<ImageId>{program});
  const JoinedSamples joined = samples.join(merger.take());
  EXPECT_EQ(joined, (JoinedSamples{70, 8, 22}));
  EXPECT_EQ(describe_joined(joined),
            "of 100 samples of the native run 8.0 % are on code that the simulated run did not "
            "count, 22.0 % in the kernel, which is not simulated");
}

TEST(NativeSamples, AddUpOverPartsOfARecording) {
  Made native("timer", "cpu-clock", Provenance::sampled);
  native.add(native.add_image("ab"), Mode::user, 0x100, 4, 4);
  NativeSamples samples;
  samples.add(native.profile);
  samples.add(native.profile);
  EXPECT_EQ(samples.join(native.profile), (JoinedSamples{0, 8, 0}));
}

TEST(NativeSamples, OfAShortRunAreNone) {
  EXPECT_EQ(NativeSamples().join(Profile()), JoinedSamples());
  EXPECT_NE(describe_joined(JoinedSamples()).find("too short"), std::string::npos);
}

}  // namespace
}  // namespace culprit

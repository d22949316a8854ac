// Whatever the bytes of a profile, reading it ends with an error or a profile that holds
// what profile.h promises. libFuzzer starts from the profiles that write_seed() makes.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include "base/file.h"
#include "store/profile_file.h"

namespace culprit {
namespace {

/// In memory where the system has it: a file a round is written and read.
std::string folder() {
  static const TemporaryFolder* const kFolder = [] {
    if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 1);
    Result<TemporaryFolder> made = TemporaryFolder::make();
    CHECK(made);
    static TemporaryFolder folder = *std::move(made);  // removed at exit
    return &folder;
  }();
  return kFolder->path();
}

/// Touches what everybody else may use without checking.
void check_profile(const Profile& profile) {
  for (const Histogram& histogram : profile.histograms) {
    CHECK(histogram.context.value < profile.contexts.size());
    CHECK(histogram.image.value < profile.images.size());
    for (size_t i = 1; i < histogram.offsets.size(); ++i) {
      const bool same = histogram.offsets[i - 1] == histogram.offsets[i];
      CHECK(same ? !histogram.objects.empty() : histogram.offsets[i - 1] < histogram.offsets[i]);
      if (same) CHECK(histogram.objects[i - 1] < histogram.objects[i]);
    }
    CHECK(histogram.objects.empty() || histogram.objects.size() == histogram.offsets.size());
    for (const ObjectId object : histogram.objects) {
      CHECK(!names_row(object) || object.value < profile.objects.size());
    }
    for (const EventColumn& column : histogram.columns) {
      CHECK(column.event.value < profile.events.size());
      CHECK(column.samples.empty() || column.samples.size() == histogram.offsets.size());
      CHECK(column.value.size() == histogram.offsets.size());
    }
  }
  for (size_t i = 0; i < profile.stacks.size(); ++i) {
    const StackId parent = profile.stacks[i].parent;
    CHECK(parent.is_all() || parent.value < i);
  }
  for (const StackCount& row : profile.stack_counts) {
    CHECK(row.stack.value < profile.stacks.size());
  }
}

void check_facts(const ImageFacts& facts) {
  for (const FunctionFact& function : facts.functions) {
    CHECK(function.begin <= function.end);
    CHECK(function.name.is_all() || function.name.value < facts.strings.size());
  }
}

void read_all(const std::string& path) {
  Result<ProfileReader> reader = ProfileReader::open(path);
  if (!reader) return;
  const Result<Profile> profile = reader->read_profile();
  if (profile) check_profile(*profile);
  for (uint32_t image = 0; image < 4; ++image) {
    const Result<std::optional<ImageFacts>> facts = reader->read_facts(ImageId(image));
    if (facts && *facts) check_facts(**facts);
  }
}

void write_seed(const std::string& path) {
  Profile p;
  p.machine.cpu_model = "cpu";
  p.environment["frequency"] = "999";
  p.runs.push_back({p.strings.intern("host"), p.strings.intern("./a.out"), {}, 1, 2, 3, 4});
  p.runs[0].labels[p.strings.intern("build")] = p.strings.intern("O2");
  p.processes.push_back({RunId(0u), 7, 1, {}});
  p.threads.push_back({ProcessId(0u), 7, {}});
  p.contexts.push_back({RunId(0u), ProcessId(0u), ThreadId(0u), Mode::user, {}, {}});
  p.events.push_back({p.strings.intern("cpu-clock"), Unit::ns, Provenance::sampled, {}, {}, 9, 1});
  p.images.emplace_back();
  p.stacks.push_back({{}, {ImageId(0u), FileOffset(5)}});
  p.objects.emplace_back();
  p.object_ranges.push_back({ObjectId(0u), {}, RunAddress(1), 2, 3, 4});
  p.regions.emplace_back();
  const ContextId context(0u);
  const Location place{ImageId(0u), FileOffset(16)};
  p.histograms.push_back({context,
                          ImageId(0u),
                          {FileOffset(16), FileOffset(20)},
                          {{EventId(0u), {1, 2}, {9, 18}, {}}}});
  p.stack_counts.push_back({context, StackId(0u), {EventId(0u), 1, 9, 0}});
  p.branch_counts.push_back({context, place, place, 1, 2, 3, 1, 1});
  p.fall_throughs.push_back({context, ImageId(0u), FileOffset(16), FileOffset(20), 1});
  p.sampled_accesses.push_back({context, EventId(0u), place, {}, 1, 2, 3, 4, 5, 6});
  p.counts.push_back({context, EventId(0u), 0, 0, 5, 6, 7});
  p.slice_counts.push_back({context, 10, 20, {EventId(0u), 1, 9, 0}});
  p.tenures.push_back({context, place, {}, {}, {}, 1, 2, 3, 4, 5, 6, 7, 8});
  p.edges.push_back({context, context, place, place, {}, {}, {}, 1});
  p.region_values.push_back({context, RegionId(0u), {}, {}, 1, 2});
  p.access_offsets.push_back({context, place, {}, 8, 48, 3});
  ImageFacts facts;
  facts.fields.push_back({FileOffset(16), true, {}, 48, {}, {}, 8, 8});
  facts.functions.push_back({FileOffset(16), FileOffset(32), facts.strings.intern("f"), {}, {}, 1});
  facts.lines.push_back({FileOffset(16), {}, 1, 1});
  facts.inlines.push_back({FileOffset(16), FileOffset(20), 0, {}, {}, 1});
  facts.blocks.push_back({FileOffset(16), 1});
  facts.code.push_back({FileOffset(16), "\x90"});
  facts.sources.push_back({{}, 1, {"int f();"}});
  Result<ProfileWriter> writer = ProfileWriter::create(path);
  CHECK(writer && writer->write_facts(ImageId(0u), facts) && writer->close(p));
}

}  // namespace
}  // namespace culprit

/// Writes one profile into each corpus folder that has none yet.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  for (int i = 1; i < *count; ++i) {
    const std::string argument = (*arguments)[i];
    if (argument.starts_with('-')) continue;
    const std::string seed = argument + "/seed.culprit";
    if (!culprit::file_exists(seed) && ::access(argument.c_str(), W_OK) == 0) {
      culprit::write_seed(seed);
    }
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = culprit::folder() + "/p.culprit";
  const culprit::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  CHECK(file);
  CHECK(::write(file.get(), data, size) == static_cast<ssize_t>(size));
  culprit::read_all(path);
  ::unlink((path + "-journal").c_str());
  return 0;
}

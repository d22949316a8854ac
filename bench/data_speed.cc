// Writes a synthetic profile for bench/data_speed.sh: 100,000 objects of the heap and their fields,
// 20,000 instructions, tenures of each object and a million edges.
//
//   data_speed_profile FILE

#include <cstdio>
#include <string>

#include "model/builder.h"
#include "model/merge.h"
#include "store/profile_file.h"

using namespace culprit;

namespace {

constexpr uint32_t kObjects = 100'000;
constexpr uint32_t kInstructions = 20'000;
constexpr uint32_t kEdges = 1'000'000;
constexpr uint64_t kBytes = 4;  // of an instruction

FileOffset offset_of(uint32_t instruction) {
  return FileOffset(0x1000 + instruction * kBytes);
}

ImageFacts make_facts() {
  ImageFacts facts;
  facts.architecture = "x86_64";
  facts.symbol_source = SymbolSource::dwarf;
  facts.has_lines = true;
  facts.segments = {{FileOffset(0), 0x1000 + kInstructions * kBytes, LinkAddress(0x400000)}};
  constexpr uint32_t kPerFunction = 20;
  for (uint32_t i = 0; i < kInstructions; ++i) {
    const StringId file =
        facts.strings.intern("/usr/src/part" + std::to_string(i / 2000) + "/source.cc");
    if (i % kPerFunction == 0) {
      FunctionFact function;
      function.begin = offset_of(i);
      function.end = offset_of(i + kPerFunction);
      function.name = facts.strings.intern("part::step_" + std::to_string(i / kPerFunction));
      function.file = file;
      facts.functions.push_back(function);
    }
    facts.lines.push_back({offset_of(i), file, 1 + i % 2000, 1});
  }
  return facts;
}

void add_tables(ProfileBuilder& builder) {
  Profile& profile = builder.profile();
  Run run;
  run.command = builder.intern("./synthetic");
  profile.runs = {run};
  profile.environment = {{"simulate.locality", "all"},  {"simulate.machine", "synthetic"},
                         {"simulate.line-bytes", "64"}, {"simulate.l1d", "32768/8"},
                         {"simulate.l1i", "32768/8"},   {"simulate.l2", "1048576/8"}};
  const auto add_event = [&](const char* name, Unit unit, Provenance provenance) {
    Event event;
    event.name = builder.intern(name);
    event.engine = builder.intern("simulate");
    event.unit = unit;
    event.provenance = provenance;
    profile.events.push_back(event);
  };
  add_event("sim:cycles", Unit::cycles, Provenance::modelled);
  add_event("L1-dcache-loads", Unit::events, Provenance::counted);
  add_event("L1-dcache-load-misses", Unit::events, Provenance::counted);
  Image image;
  image.kind = ImageKind::program;
  image.path = builder.intern("/usr/bin/synthetic");
  profile.images = {image};
  profile.objects.resize(1);  // row 0: unknown
  for (uint32_t i = 1; i <= kObjects; ++i) {
    DataObject object;
    object.kind = ObjectKind::heap;
    object.site = {ImageId(0u), offset_of(i % kInstructions)};
    object.calls = builder.intern_stack({StackId(), object.site});
    object.blocks = 1;
    object.size_bytes = object.total_bytes = 640;
    profile.objects.push_back(object);
  }
}

void add_counts(ProfileBuilder& builder) {
  Profile& profile = builder.profile();
  const ContextId who = builder.intern_context({});
  Histogram histogram{who, ImageId(0u), {}, {}, {}};
  std::vector<std::vector<uint64_t>> values(profile.events.size());
  // Five objects at each instruction, ascending.
  for (uint32_t i = 0; i < kInstructions; ++i) {
    for (uint32_t k = 0; k < kObjects / kInstructions; ++k) {
      histogram.offsets.push_back(offset_of(i));
      histogram.objects.push_back(ObjectId(1 + i * (kObjects / kInstructions) + k));
      for (size_t event = 0; event < values.size(); ++event) values[event].push_back(1000 + i + k);
    }
  }
  for (size_t event = 0; event < values.size(); ++event) {
    histogram.columns.push_back(
        {EventId(event), std::vector<uint64_t>(values[event].size()), values[event], {}});
  }
  for (size_t row = 0; row < histogram.offsets.size(); ++row) {
    for (const CacheLevel level : {CacheLevel::l1d, CacheLevel::l2}) {
      Tenure tenure;
      tenure.context = who;
      tenure.location = {ImageId(0u), histogram.offsets[row]};
      tenure.object = histogram.objects[row];
      tenure.level = level;
      tenure.lines = 10;
      tenure.bytes_touched = 320;
      tenure.bytes_accessed = 640;
      tenure.touches = 80;
      profile.tenures.push_back(tenure);
    }
  }
  uint64_t random = 1;  // Knuth's multiplier: the same profile every time
  const auto next = [&random](uint32_t below) {
    random = random * 6364136223846793005 + 1442695040888963407;
    return static_cast<uint32_t>((random >> 33) % below);
  };
  for (uint32_t i = 0; i < kEdges; ++i) {
    Edge edge;
    edge.from_context = edge.to_context = who;
    edge.from = {ImageId(0u), offset_of(next(kInstructions))};
    edge.to = {ImageId(0u), offset_of(next(kInstructions))};
    edge.object = ObjectId(1 + next(kObjects));
    edge.kind = static_cast<EdgeKind>(next(7));
    edge.count = 1 + next(1000);
    profile.edges.push_back(edge);
  }
  profile.histograms = {std::move(histogram)};
  merge_counts(profile);  // as a recording leaves them
}

Result<void> write_profile(const std::string& path) {
  ProfileBuilder builder;
  add_tables(builder);
  add_counts(builder);
  ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::create(path));
  RETURN_IF_ERROR(writer.flush(builder.profile()));
  RETURN_IF_ERROR(writer.write_facts(ImageId(0u), make_facts()));
  return writer.close();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  if (const Result<void> written = write_profile(argv[1]); !written) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    return 1;
  }
  return 0;
}

// Writes a synthetic profile for bench/report_speed.sh: one library with functions of 256 bytes,
// five addresses with counts in each, with lines, inlined calls, blocks and code.
//
//   report_speed_profile FILE [FUNCTIONS [simulated]]
//
// 20,000 functions where nothing else is said, and samples of time; "simulated": some events of the
// software PMU, so that `culprit why` has advice to place.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "code/blocks.h"
#include "code/decoder/decoder.h"
#include "model/builder.h"
#include "store/profile_file.h"

using namespace culprit;

namespace {

constexpr uint64_t kFunctionBytes = 256;
constexpr uint64_t kLocationsPerFunction = 5;
constexpr uint64_t kStart = 0x1000;

// A name of each branch of the template `simulated-core`, and what an execution has of it.
struct SimulatedEvent {
  const char* name;
  Unit unit;
  uint64_t each;
};
constexpr SimulatedEvent kSimulated[] = {
    {"instructions", Unit::events, 8},          {"sim:cycles", Unit::cycles, 100},
    {"sim:base-cycles", Unit::cycles, 10},      {"sim:load-memory-cycles", Unit::cycles, 30},
    {"sim:load-l2-cycles", Unit::cycles, 20},   {"sim:store-cycles", Unit::cycles, 15},
    {"sim:starvation-cycles", Unit::cycles, 9}, {"sim:misprediction-cycles", Unit::cycles, 8},
    {"sim:call-cycles", Unit::cycles, 8},
};

/// 16 bytes of x86-64 in three blocks, again and again, with a return at the end.
std::string function_code() {
  static constexpr char kPiece[] =
      "\x48\x8b\x07"  // mov (%rdi),%rax
      "\x48\x01\xc6"  // add %rax,%rsi
      "\x74\x03"      // je behind the next instruction
      "\x48\xff\xc2"  // inc %rdx
      "\x48\x89\x37"  // mov %rsi,(%rdi)
      "\x66\x90";     // xchg %ax,%ax
  std::string code;
  while (code.size() < kFunctionBytes) code.append(kPiece, sizeof kPiece - 1);
  code.back() = '\xc3';
  code[code.size() - 2] = '\x90';
  return code;
}

Result<ImageFacts> make_facts(uint64_t functions) {
  ImageFacts facts;
  const auto text = [&facts](const std::string& word) { return facts.strings.intern(word); };
  facts.architecture = "x86_64";
  facts.symbol_source = SymbolSource::dwarf;
  facts.has_lines = true;
  facts.segments = {{FileOffset(0), kStart + functions * kFunctionBytes, LinkAddress(0x400000)}};
  const std::string code = function_code();
  ASSIGN_OR_RETURN(const Decoder decoder, Decoder::make(facts.architecture));
  const std::vector<Block> blocks = find_blocks(decoder.decode(code, LinkAddress(0), Detail::flow));
  for (uint64_t i = 0; i < functions; ++i) {
    const std::string number = std::to_string(i);
    const FileOffset begin(kStart + i * kFunctionBytes);
    const StringId file = text("/usr/src/library/part" + std::to_string(i / 50) + "/source.cc");
    const StringId header = text("/usr/include/c++/12/bits/stl_vector.h");
    FunctionFact function;
    function.begin = begin;
    function.end = begin + kFunctionBytes;
    function.name = text("library::part" + std::to_string(i / 50) + "::Worker<int>::step_" +
                         number + "(std::vector<int, std::allocator<int> > const&, unsigned long)");
    function.file = file;
    function.line = 10;
    facts.functions.push_back(function);
    for (uint64_t row = 0; row < 16; ++row) {
      const bool inlined = row % 4 == 3;
      facts.lines.push_back({begin + 16 * row, inlined ? header : file,
                             static_cast<uint32_t>(inlined ? 900 : 10 + i % 50 * 40 + row), 1});
    }
    const StringId callee = text(
        "std::vector<int, std::allocator<int> >::operator[](unsigned "
        "long)");
    for (uint64_t row = 3; row < 16; row += 4) {
      facts.inlines.push_back({begin + 16 * row, begin + 16 * (row + 1), 0, callee, file, 20});
    }
    facts.code.push_back({begin, code});
    for (const Block& block : blocks) {
      facts.blocks.push_back(
          {begin + block.begin.value, static_cast<uint32_t>(block.end - block.begin)});
    }
  }
  return facts;
}

void add_events(bool is_simulated, ProfileBuilder& builder) {
  if (!is_simulated) {
    Event clock;
    clock.name = builder.intern("cpu-clock");
    clock.unit = Unit::ns;
    clock.provenance = Provenance::sampled;
    clock.period = 1'000'000;
    builder.profile().events = {clock};
    return;
  }
  for (const SimulatedEvent& one : kSimulated) {
    Event event;
    event.name = builder.intern(one.name);
    event.unit = one.unit;
    event.provenance = one.unit == Unit::cycles ? Provenance::modelled : Provenance::counted;
    event.engine = builder.intern("simulate");
    builder.profile().events.push_back(event);
  }
}

void add_counts(ContextId who, Location at, uint64_t times, bool is_simulated,
                ProfileBuilder& builder) {
  if (!is_simulated) return builder.add(who, at, EventId(0u), times, times * 1'000'000);
  for (size_t event = 0; event < std::size(kSimulated); ++event) {
    builder.add(who, at, EventId(event), 0, times * kSimulated[event].each);
  }
}

Result<void> write_profile(const std::string& path, uint64_t functions, bool is_simulated) {
  ProfileBuilder builder;
  Profile& profile = builder.profile();
  profile.machine.architecture = "x86_64";
  Run run;
  run.command = builder.intern("./synthetic");
  run.duration_ns = 1'000'000'000;
  profile.runs = {run};
  profile.processes = {{RunId(0u), 100, 1, builder.intern("synthetic")}};
  profile.threads = {{ProcessId(0u), 100, builder.intern("synthetic")}};
  add_events(is_simulated, builder);
  Image image;
  image.kind = ImageKind::library;
  image.path = builder.intern("/usr/lib/libsynthetic.so.1");
  profile.images = {image};
  Context context;
  context.run = RunId(0u);
  context.process = ProcessId(0u);
  context.thread = ThreadId(0u);
  const ContextId who = builder.intern_context(context);
  uint64_t random = 1;  // Knuth's multiplier: the same profile every time
  for (uint64_t i = 0; i < functions; ++i) {
    for (uint64_t k = 0; k < kLocationsPerFunction; ++k) {
      random = random * 6364136223846793005 + 1442695040888963407;
      const uint64_t samples = 1 + (random >> 60);
      const FileOffset at(kStart + i * kFunctionBytes + 48 * k);
      add_counts(who, {ImageId(0u), at}, samples, is_simulated, builder);
    }
  }
  builder.take_counts();
  ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::create(path));
  RETURN_IF_ERROR(writer.flush(profile));
  ASSIGN_OR_RETURN(const ImageFacts facts, make_facts(functions));
  RETURN_IF_ERROR(writer.write_facts(ImageId(0u), facts));
  return writer.close();
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t functions = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20'000;
  const bool is_simulated = argc > 3 && std::string_view(argv[3]) == "simulated";
  if (argc < 2 || argc > 4 || functions == 0 || (argc > 3 && !is_simulated)) {
    std::fprintf(stderr, "usage: %s FILE [FUNCTIONS [simulated]]\n", argv[0]);
    return 2;
  }
  if (const Result<void> written = write_profile(argv[1], functions, is_simulated); !written) {
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    return 1;
  }
  return 0;
}

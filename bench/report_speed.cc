// Writes a synthetic profile for bench/report_speed.sh: one library with 20,000 functions
// of 256 bytes, five sampled addresses in each, with lines, inlined calls, blocks and code.
//
//   report_speed_profile FILE

#include <cstdio>
#include <string>

#include "model/builder.h"
#include "snapshot/block_facts.h"
#include "store/profile_file.h"

using namespace culprit;

namespace {

constexpr uint64_t kFunctions = 20'000;
constexpr uint64_t kFunctionBytes = 256;
constexpr uint64_t kLocationsPerFunction = 5;
constexpr uint64_t kStart = 0x1000;

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

ImageFacts make_facts() {
  ImageFacts facts;
  const auto text = [&facts](const std::string& word) { return facts.strings.intern(word); };
  facts.architecture = "x86_64";
  facts.symbol_source = SymbolSource::dwarf;
  facts.has_lines = true;
  facts.segments = {{FileOffset(0), kStart + kFunctions * kFunctionBytes, LinkAddress(0x400000)}};
  const std::string code = function_code();
  for (uint64_t i = 0; i < kFunctions; ++i) {
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
  }
  add_block_facts(facts);
  return facts;
}

Result<void> write_profile(const std::string& path) {
  ProfileBuilder builder;
  Profile& profile = builder.profile();
  profile.machine.architecture = "x86_64";
  Run run;
  run.command = builder.intern("./synthetic");
  run.duration_ns = 1'000'000'000;
  profile.runs = {run};
  profile.processes = {{RunId(0u), 100, 1, builder.intern("synthetic")}};
  profile.threads = {{ProcessId(0u), 100, builder.intern("synthetic")}};
  Event clock;
  clock.name = builder.intern("cpu-clock");
  clock.unit = Unit::ns;
  clock.provenance = Provenance::sampled;
  clock.period = 1'000'000;
  profile.events = {clock};
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
  for (uint64_t i = 0; i < kFunctions; ++i) {
    for (uint64_t k = 0; k < kLocationsPerFunction; ++k) {
      random = random * 6364136223846793005 + 1442695040888963407;
      const uint64_t samples = 1 + (random >> 60);
      const FileOffset at(kStart + i * kFunctionBytes + 48 * k);
      builder.add(who, {ImageId(0u), at}, EventId(0u), samples, samples * 1'000'000);
    }
  }
  builder.take_counts();
  ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::create(path));
  RETURN_IF_ERROR(writer.flush(profile));
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

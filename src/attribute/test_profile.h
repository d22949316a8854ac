#pragma once

// A small profile with hand-made counts, for the tests of the rooms that answer.
//
// Two threads of ./mill (pid 100) and one of its child sort (pid 101); 1 sample =
// 1,000,000 ns; clock 2 GHz, so 1 sample = 2,000,000 cycles. 1,000 samples:
//
//   image   offset  samples  function (inlined from)          line
//   mill     0x210      400  grind                            mill.c:11
//   mill     0x214      100  grind                            mill.c:12
//   mill     0x220      150  weigh (inlined into grind)       scale.h:5
//   mill     0x310       50  std::vector<...>::push_back      vector.h:40
//   libc      0x40       80  (no symbol)
//   kernel    0x10      120  clear_page
//   sort     0x210      100  grind (another program's)        sort.c:3
//
// grind of mill is at link addresses 1200-1230:
//   1210 addl  1213 nop  1214 je 1220  1216 incl  1218 8 x nop  1220 subl  1223 jmp 1210 ...

#include <map>
#include <string>

#include "attribute/attribution.h"
#include "model/builder.h"
#include "model/image_facts.h"
#include "model/profile.h"

namespace culprit {

struct TestProfile {
  Profile profile;
  std::map<ImageId, ImageFacts> facts;

  [[nodiscard]] FactsLookup lookup() const {
    return [this](ImageId image) -> const ImageFacts* {
      const auto found = facts.find(image);
      return found == facts.end() ? nullptr : &found->second;
    };
  }
};

inline constexpr const char* kLongName =
    "std::vector<std::pair<std::string, int>, std::allocator<std::pair<std::string, int> > "
    ">::push_back(std::pair<std::string, int> const&)";

inline ImageFacts mill_facts() {
  using namespace std::string_literals;
  ImageFacts facts;
  const auto name = [&](const char* text) { return facts.strings.intern(text); };
  facts.architecture = "x86_64";
  facts.symbol_source = SymbolSource::dwarf;
  facts.has_lines = true;
  facts.segments = {{FileOffset(0), 0x1000, LinkAddress(0x1000)}};
  facts.functions = {
      {FileOffset(0x200), FileOffset(0x230), name("grind"), {}, name("/src/mill.c"), 9},
      {FileOffset(0x300), FileOffset(0x340), name(kLongName), {}, {}, 0}};
  facts.lines = {{FileOffset(0x200), name("/src/mill.c"), 10, 0},
                 {FileOffset(0x210), name("/src/mill.c"), 11, 0},
                 {FileOffset(0x214), name("/src/mill.c"), 12, 0},
                 {FileOffset(0x220), name("/src/scale.h"), 5, 0},
                 {FileOffset(0x223), name("/src/mill.c"), 14, 0},
                 {FileOffset(0x230), name(""), 0, 0},
                 {FileOffset(0x300), name("/usr/include/vector.h"), 40, 0},
                 {FileOffset(0x340), name(""), 0, 0}};
  facts.inlines = {
      {FileOffset(0x220), FileOffset(0x223), 0, name("weigh"), name("/src/mill.c"), 13, {}, 4}};
  facts.code = {
      {FileOffset(0x200), std::string(16, '\x90') +       // 1200 16 nops
                              "\x83\xc0\x01\x90"s +       // 1210 addl $1,%eax; 1213 nop
                              "\x74\x0a\xff\xc0"s +       // 1214 je 1220; 1216 incl %eax
                              std::string(8, '\x90') +    // 1218 8 nops
                              "\x83\xe8\x02\xeb\xeb"s +   // 1220 subl $2,%eax; 1223 jmp 1210
                              std::string(11, '\x90')}};  // 1225 nops, never run
  facts.sources = {
      {name("/src/mill.c"),
       9,
       {"void grind(int n)", "{", "\tfor (;;) n += 1;", "  if (n) n++;", "  n = weigh(n);", "}"}},
      {name("/src/scale.h"), 5, {"  return n - 2;"}}};
  return facts;
}

inline TestProfile make_test_profile() {
  TestProfile test;
  ProfileBuilder builder;
  Profile& p = builder.profile();
  const auto text = [&](const char* word) { return builder.intern(word); };
  Run run;
  run.command = text("./mill 42");
  run.duration_ns = 600'000'000;
  run.cpu_time_ns = 1'001'000'000;
  p.runs = {run};
  p.machine = {"x86_64",
               "Test CPU",
               "TestVendor-6-1-0",
               "6.1",
               2,
               false,
               "kvm",
               ClockCalibration{2e9, 1.98e9, 2.02e9, 10}};
  p.processes = {{RunId(0u), 100, 1, text("mill")}, {RunId(0u), 101, 100, text("sort")}};
  p.threads = {{ProcessId(0u), 100, text("mill")},
               {ProcessId(0u), 102, text("worker")},
               {ProcessId(1u), 101, text("sort")}};
  Event clock;
  clock.name = text("cpu-clock");
  clock.unit = Unit::ns;
  clock.provenance = Provenance::sampled;
  clock.engine = text("timer");
  clock.period = 1'000'000;
  p.events = {clock};
  const auto image = [&](ImageKind kind, const char* path) {
    Image one;
    one.kind = kind;
    one.path = text(path);
    p.images.push_back(one);
    return ImageId(p.images.size() - 1);
  };
  const ImageId mill = image(ImageKind::program, "/opt/bin/mill");
  const ImageId libc = image(ImageKind::library, "/usr/lib/libc.so.6");
  const ImageId kernel = image(ImageKind::kernel, "[kernel]");
  const ImageId sort = image(ImageKind::program, "/opt/bin/sort");

  const auto context = [&](uint32_t process, uint32_t thread) {
    Context one;
    one.run = RunId(0u);
    one.process = ProcessId(process);
    one.thread = ThreadId(thread);
    return builder.intern_context(one);
  };
  const ContextId first = context(0, 0);
  const ContextId second = context(0, 1);
  const ContextId child = context(1, 2);
  const auto add = [&](ContextId who, ImageId where, uint64_t offset, uint64_t samples) {
    builder.add(who, {where, FileOffset(offset)}, EventId(0u), samples, samples * 1'000'000);
  };
  add(first, mill, 0x210, 250);
  add(second, mill, 0x210, 150);
  add(first, mill, 0x214, 100);
  add(first, mill, 0x220, 50);
  add(second, mill, 0x220, 100);
  add(first, mill, 0x310, 50);
  add(first, libc, 0x40, 80);
  add(second, kernel, 0x10, 120);
  add(child, sort, 0x210, 100);
  builder.take_counts();
  test.profile = p;

  test.facts[mill] = mill_facts();
  test.facts[libc].segments = {{FileOffset(0), 0x1000, LinkAddress(0x5000)}};
  ImageFacts& kernel_facts = test.facts[kernel];
  kernel_facts.functions = {
      {FileOffset(0), FileOffset(0x100), kernel_facts.strings.intern("clear_page"), {}, {}, 0}};
  ImageFacts& sort_facts = test.facts[sort];
  sort_facts.functions = {
      {FileOffset(0x200), FileOffset(0x240), sort_facts.strings.intern("grind"), {}, {}, 0}};
  sort_facts.lines = {{FileOffset(0x200), sort_facts.strings.intern("/src/sort.c"), 3, 0}};
  return test;
}

/// Adds call stacks: main (mill 0x300, the long name) calls grind, which was sampled at
/// 0x220 (weigh inlined) 150 times and at 0x210 400 times; the rest has no stack.
inline void add_test_stacks(TestProfile& test) {
  Profile& p = test.profile;
  const ImageId mill(0u);
  p.stacks = {{StackId(), {mill, FileOffset(0x300)}},
              {StackId(0u), {mill, FileOffset(0x220)}},
              {StackId(0u), {mill, FileOffset(0x210)}}};
  p.stack_counts = {{ContextId(0u), StackId(1u), {EventId(0u), 50, 50'000'000, 0}},
                    {ContextId(1u), StackId(1u), {EventId(0u), 100, 100'000'000, 0}},
                    {ContextId(0u), StackId(2u), {EventId(0u), 250, 250'000'000, 0}},
                    {ContextId(1u), StackId(2u), {EventId(0u), 150, 150'000'000, 0}}};
}

/// Adds branch records of grind, called once from the long name (entered from libc), which
/// goes round its loop 100 times, jumping over 1216 to 1220 in 60 of them:
///   taken   1214 > 1220: 60 (6 mispredicted)   1223 > 1210: 99   1308 > 1200: 1
///   ranges  1200-1214: 1   1210-1214: 59   1210-1223: 40   1220-1223: 60
inline void add_test_branches(TestProfile& test) {
  const ImageId mill(0u);
  const ImageId libc(1u);
  const ContextId who(0u);
  const auto at = [&](uint64_t offset) { return Location{mill, FileOffset(offset)}; };
  const auto range = [&](uint64_t from, uint64_t to, uint64_t count) {
    return FallThrough{who, mill, FileOffset(from), FileOffset(to), count};
  };
  test.profile.branch_counts = {{who, at(0x214), at(0x220), 60, 6, 0, 60, 0},
                                {who, at(0x223), at(0x210), 99, 0, 0, 99, 0},
                                {who, at(0x308), at(0x200), 1, 0, 0, 1, 0},
                                {who, {libc, FileOffset(0x50)}, at(0x300), 1, 0, 0, 1, 0}};
  test.profile.fall_throughs = {range(0x200, 0x214, 1), range(0x210, 0x214, 59),
                                range(0x210, 0x223, 40), range(0x220, 0x223, 60)};
}

}  // namespace culprit

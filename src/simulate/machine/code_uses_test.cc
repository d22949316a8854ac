#include "simulate/machine/code_uses.h"

#include <map>
#include <random>
#include <tuple>

#include "simulate/machine/test_machine.h"

namespace culprit::simulate {
namespace {

/// Small enough that lines, pages and whole steps of LineAges come and go all the time.
MachineModel busy_machine() {
  MachineModel machine = tiny_machine();
  machine.l1i.size_bytes = 1024;  // 16 lines: a step is one fill
  machine.l1i.ways = 4;
  machine.l3.inclusion = Inclusion::inclusive;
  machine.tlb.instruction = {4, 4};
  machine.tlb.data = {4, 4};
  machine.tlb.second = {16, 4};
  return machine;
}

/// Code of three pages: each part in one line, several of them overlapping.
std::vector<CodePart> make_parts(std::mt19937& random) {
  std::vector<CodePart> parts;
  for (uint32_t number = 1; number <= 150; ++number) {
    const uint64_t offset = random() % 60;
    CodePart part;
    part.address = 0x40'0000 + random() % 40 * 64 + random() % 3 * 4096 + offset;
    part.site = 1 + number / 2;
    part.bytes = (1 + random() % (64 - offset)) & 0xff;
    part.number = number & 0xff;
    parts.push_back(part);
  }
  return parts;
}

using Edges = std::map<std::tuple<Origin, Origin, LineEdgeKind>, uint64_t>;
Edges edges_of(TenureTable& table) {
  Edges edges;
  for (const auto& [key, count] : table.edges()) {
    edges[{key.from, key.to, key.kind}] += count;
  }
  return edges;
}
using Rows = std::map<Origin, std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, uint64_t>>;
Rows rows_of(TenureTable& table) {
  Rows rows;
  for (const auto& [site, row] : table.sites()) {
    rows[site] = {row.lines, row.touches, row.bytes_touched, row.bytes_accessed,
                  row.lines_left_at_end};
  }
  return rows;
}

void expect_same(CoreState& with, CoreState& without) {
  for (const Level level : {Level::l1d, Level::l1i, Level::l2, Level::l3}) {
    EXPECT_EQ(rows_of(with.tenures(level)), rows_of(without.tenures(level)));
    EXPECT_EQ(edges_of(with.tenures(level)), edges_of(without.tenures(level)));
  }
}

/// Two cores that run the same code and write the same data, with numbers and without: all that
/// is known in the end must be the same.
void run_both(const MachineModel& machine, Locality locality) {
  const auto with = make_hierarchy(machine, locality);
  const auto without = make_hierarchy(machine, locality);
  for (int i = 0; i < 2; ++i) with->add_core(), without->add_core();
  std::mt19937 random(7);
  const std::vector<CodePart> parts = make_parts(random);
  size_t first = 0;
  int usual = 0;
  for (int run = 0; run < 60'000; ++run) {
    if (random() % 300 == 0) first = random() % (parts.size() - 6);  // another loop
    const CodePart& part = parts[first + random() % 6];
    const size_t number = random() % 16 == 0 ? 1 : 0;
    CoreState& core = *with->cores()[number];
    CoreState& other = *without->cores()[number];
    const CodeUses::Use& use = core.code_uses.find(part);
    usual += use.page != CodeUses::kNoPage ? 1 : 0;
    const PackedOutcome plain = fetch(other, part.address, part.bytes, part.site);
    ASSERT_EQ(Outcome(fetch(core, part)).source, Outcome(plain).source) << run;
    if (random() % 4 != 0) continue;
    const uint64_t address = random() % 48 * 64;
    const auto kind = random() % 3 == 0 ? AccessType::store : AccessType::load;
    ASSERT_EQ(access(core, address, 8, kind, 500).source,
              access(other, address, 8, kind, 500).source)
        << run;
  }
  EXPECT_GT(usual, 20'000);  // of them were where they had been before
  with->finish();
  without->finish();
  for (size_t i = 0; i < 2; ++i) expect_same(*with->cores()[i], *without->cores()[i]);
}

TEST(CodeUses, ChangeNothingOfWhatIsCounted) {
  for (const Locality locality : {Locality::off, Locality::l1, Locality::all}) {
    run_both(busy_machine(), locality);
  }
}

TEST(CodeUses, NorWithPseudoLruAndPrefetchedCode) {
  MachineModel machine = busy_machine();
  machine.l1i.replacement = Replacement::plru;
  machine.prefetch.code_lines = 2;
  run_both(machine, Locality::all);
}

TEST(CodeUses, NorWithoutL2) {
  MachineModel machine = busy_machine();
  machine.l2.size_bytes = 0;
  run_both(machine, Locality::all);
}

// Pages become huge and small again under code that runs.
TEST(CodeUses, ForgetTranslationsThatAreGone) {
  const auto memory = make_hierarchy(busy_machine());
  CoreState& core = memory->add_core();
  const CodePart part{.address = 0x40'0000, .site = 1, .bytes = 16, .number = 1};
  fetch(core, part);
  EXPECT_TRUE(fetch(core, part).plain_hit());
  memory->set_huge_pages(0x40'0000, 0x60'0000, true);
  EXPECT_EQ(Outcome(fetch(core, part)).translation, TlbLookup::walk);
  EXPECT_TRUE(fetch(core, part).plain_hit());
}

TEST(CodeUses, AreOverWhenAllTenuresAre) {
  const auto memory = make_hierarchy(busy_machine(), Locality::all);
  CoreState& core = memory->add_core();
  const CodePart part{.address = 0x40'0000, .site = 1, .bytes = 16, .number = 1};
  fetch(core, part);
  EXPECT_TRUE(fetch(core, part).plain_hit());
  memory->finish();
  EXPECT_FALSE(fetch(core, part).plain_hit());
}

// By hand: a part of 16 bytes runs ten times; then another one takes its place.
TEST(CodeUses, JoinTheTenureOfTheirLineWhenItEnds) {
  MachineModel machine = plain_machine(64, 1, 4096, 16);
  machine.l1i.size_bytes = 64;
  machine.l1i.ways = 1;
  machine.prefetch.code_lines = 0;
  const auto memory = make_hierarchy(machine, Locality::l1);
  CoreState& core = memory->add_core();
  const CodePart part{.address = 0x1000, .site = 7, .bytes = 16, .number = 1};
  for (int run = 0; run < 10; ++run) fetch(core, part);
  fetch(core, {.address = 0x2000, .site = 8, .bytes = 32, .number = 2});
  const SiteTenures row = core.tenures(Level::l1i).sites().at({7, LineUse::fetch});
  EXPECT_EQ(row.lines, 1U);
  EXPECT_EQ(row.bytes_touched, 16U);
  EXPECT_EQ(row.bytes_accessed, 160U);
  const Edges edges = edges_of(core.tenures(Level::l1i));
  EXPECT_EQ(edges.at({{7, LineUse::fetch}, 7, LineEdgeKind::reuse}), 9U);
  EXPECT_EQ(edges.at({{7, LineUse::fetch}, 8, LineEdgeKind::evict_by_capacity}), 1U);
}

}  // namespace
}  // namespace culprit::simulate

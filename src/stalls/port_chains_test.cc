#include "stalls/port_chains.h"

#include <gtest/gtest.h>
#include <string>

#include "code/decoder/decoder.h"

namespace culprit {
namespace {

using namespace std::string_literals;

/// Port and chain of a loop whose first two instructions have 3 cycles of a port each.
StaticCycles find_best(const std::string& bytes) {
  FunctionGraph function;
  function.code.link_begin = LinkAddress(0x1000);
  const Result<Decoder> decoder = Decoder::make("x86_64");
  EXPECT_TRUE(decoder);
  function.code.instructions = decoder->decode(bytes, LinkAddress(0x1000), Detail::operands);
  function.code.blocks = find_blocks(function.code.instructions);
  function.graph = make_flow_graph(function.code);
  function.loops = find_loops(function.graph);
  std::vector<InstructionEvidence> evidence(function.code.instructions.size());
  evidence[0].best.port = evidence[1].best.port = 3;
  evidence[2].best.port = 0.1;
  move_ports_to_chains(function, evidence);
  StaticCycles best;
  for (const InstructionEvidence& one : evidence) best += one.best;
  return best;
}

// mul %rcx multiplies rax and leaves the product in rdx:rax.
TEST(PortChains, APortThatOnlyAChainAsksForIsTheChains) {
  const StaticCycles best = find_best("\x48\xf7\xe1\x48\xf7\xe1\x48\xff\xce\x75\xf5\xc3"s);
  EXPECT_EQ(best.port, 0);
  EXPECT_DOUBLE_EQ(best.chain, 6.1);
}

// By way of another instruction: mul, then mov %rdx,%rax and mul again.
TEST(PortChains, AreFollowedThroughOtherInstructions) {
  const StaticCycles best =
      find_best("\x48\x0f\xaf\xc8\x48\x0f\xaf\xc8\x48\x89\xca\x48\x89\xd1\x75\xf0\xc3"s);
  EXPECT_EQ(best.port, 0);
}

// imul %rdx,%rax and imul %rdx,%rcx: each waits for its own of the round before, and both ask for
// the port.
TEST(PortChains, TwoChainsAskForThePortAtOnce) {
  const StaticCycles best = find_best("\x48\x0f\xaf\xc2\x48\x0f\xaf\xca\x48\xff\xce\x75\xf3\xc3"s);
  EXPECT_DOUBLE_EQ(best.port, 6.1);
  EXPECT_EQ(best.chain, 0);
}

// The chain is broken: mov $5,%eax before each multiplication.
TEST(PortChains, ABrokenChainHoldsNothingUp) {
  const StaticCycles best =
      find_best("\x48\xf7\xe1\x48\xf7\xe1\xb8\x05\0\0\0\x48\xff\xce\x75\xf0\xc3"s);
  EXPECT_DOUBLE_EQ(best.port, 6.1);
}

}  // namespace
}  // namespace culprit

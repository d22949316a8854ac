// pair: shared_nodes
// branch: instruction_serialization
// place: evaluate
// repair: a node borrows its inputs by reference, and no reference is counted
//
// Evaluates formulas of a spreadsheet, whose nodes are shared by counted references. Each visit
// copies a reference: an atomic addition and subtraction, though one thread uses them.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#define NOINLINE __attribute__((noinline))

constexpr int kNodes = 900, kInputs = 3, kRounds = 10000;

struct Node;

/// A counted reference, as libraries for threads have it.
class Reference {
 public:
  Reference() = default;
  explicit Reference(Node* node);
  Reference(const Reference& other);
  Reference(Reference&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Reference& operator=(Reference other) {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Reference();
  Node* operator->() const { return node_; }

 private:
  Node* node_ = nullptr;
};

struct Node {
  std::atomic<int> references{0};
  int64_t value = 0, factor = 1;
  Reference inputs[kInputs];
};

inline Reference::Reference(Node* node) : node_(node) {
  node->references.fetch_add(1, std::memory_order_relaxed);
}
inline Reference::Reference(const Reference& other) : node_(other.node_) {
  if (node_) node_->references.fetch_add(1, std::memory_order_relaxed);
}
inline Reference::~Reference() {
  if (node_ && node_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node_;
}

static uint32_t next_random(uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

static NOINLINE std::vector<Reference> make_sheet() {
  uint32_t seed = 65537;
  std::vector<Reference> nodes;
  for (int i = 0; i < kNodes; ++i) {
    nodes.emplace_back(new Node);
    nodes.back()->value = next_random(seed) % 1000;
    nodes.back()->factor = 1 + next_random(seed) % 9;
    if (i < 30) continue;
    for (Reference& input : nodes.back()->inputs) input = nodes[next_random(seed) % i];
  }
  return nodes;
}

static NOINLINE void evaluate(const std::vector<Reference>& nodes) {
  for (int i = 30; i < kNodes; ++i) {
    int64_t sum = 0;
    for (int k = 0; k < kInputs; ++k) {
#ifdef AFTER
      const Reference& input = nodes[i]->inputs[k];
#else
      const Reference input = nodes[i]->inputs[k];
#endif
      sum += (input->value * input->factor) >> 2;
    }
    nodes[i]->value = (sum + i) & 0xffffff;
  }
}

/// What a user types: some cells get new values.
static NOINLINE void edit(const std::vector<Reference>& nodes, int round) {
  for (int i = 0; i < 30; ++i) nodes[i]->value = (nodes[i]->value * 5 + round * i + 7) & 0xffff;
}

static NOINLINE uint64_t render(const std::vector<Reference>& nodes) {
  uint64_t hash = 0;
  for (int i = 0; i < kNodes; ++i)
    for (uint64_t value = static_cast<uint64_t>(nodes[i]->value) | 1 << 16; value; value /= 10)
      hash = hash * 31 + value % 10;
  return hash;
}

int main() {
  const std::vector<Reference> nodes = make_sheet();
  uint64_t sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    edit(nodes, round);
    evaluate(nodes);
    if (round % 2 == 0) sum = sum * 31 + render(nodes);
  }
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
}

// pair: graph_walk
// branch: load_latency
// place: walk
// repair: eight walkers take a step each in turn, so that their loads wait together
// decoy: a step divides; a multiplication and a shift instead (-DDECOY) save nothing
//
// Random walks over a graph, as recommendations are made from. Where a walker goes next is in
// tens of MB of edges, and is known only when the step before has arrived.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { kNodes = 500000, kDegree = 11, kWalkers = 3000, kSteps = 300, kRanks = 1000 };

typedef struct {
  uint32_t* first_edge;
  uint32_t* edges;
} Graph;

static uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

static NOINLINE Graph make_graph(void) {
  uint32_t seed = 1618;
  Graph graph = {calloc(kNodes + 1, 4), calloc((size_t)kNodes * kDegree, 4)};
  uint32_t count = 0;
  for (uint32_t node = 0; node < kNodes; ++node) {
    graph.first_edge[node] = count;
    const uint32_t degree = 3 + node % (kDegree - 2);
    uint32_t random = next_random(&seed);
    for (uint32_t i = 0; i < degree; ++i) {
      random = random * 1664525 + 1013904223;
      graph.edges[count++] = (uint32_t)(((uint64_t)random * kNodes) >> 32);
    }
  }
  graph.first_edge[kNodes] = count;
  return graph;
}

static inline uint32_t step(const Graph* graph, uint32_t node, uint32_t* seed) {
  const uint32_t first = graph->first_edge[node];
  const uint32_t degree = graph->first_edge[node + 1] - first;
#ifdef DECOY
  return graph->edges[first + (uint32_t)(((uint64_t)next_random(seed) * degree) >> 32)];
#else
  return graph->edges[first + next_random(seed) % degree];
#endif
}

static NOINLINE void walk(const Graph* graph, uint32_t walker, uint32_t together, uint32_t* ends,
                          uint64_t* visited) {
  uint32_t nodes[8], seeds[8];
  uint64_t sum = 0;
  for (uint32_t i = 0; i < together; ++i) {
    nodes[i] = (walker + i) * 163 % kNodes;
    seeds[i] = (walker + i) * 2654435761u | 1;
  }
  for (int at = 0; at < kSteps; ++at)
    for (uint32_t i = 0; i < together; ++i) {
      nodes[i] = step(graph, nodes[i], &seeds[i]);
      sum += nodes[i];
    }
  for (uint32_t i = 0; i < together; ++i) ends[walker + i] = nodes[i];
  *visited += sum;
}

// The nodes where most walks ended, with a heap of the least of them on top.
static NOINLINE uint64_t rank_ends(const uint32_t* ends) {
  static uint32_t heap[kRanks];
  uint64_t sum = 0;
  for (int round = 0; round < 6000; ++round)
    for (int i = 0; i < kWalkers; ++i) {
      const uint32_t end = ends[i] ^ (uint32_t)round * 7919;
      if (end <= heap[0]) continue;
      uint32_t at = 0;
      while (2 * at + 1 < kRanks) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < kRanks && heap[child + 1] < heap[child]) ++child;
        if (heap[child] >= end) break;
        heap[at] = heap[child];
        at = child;
      }
      heap[at] = end;
    }
  for (int i = 0; i < kRanks; ++i) sum += heap[i];
  return sum;
}

int main(void) {
#ifdef AFTER
  const uint32_t together = 8;
#else
  const uint32_t together = 1;
#endif
  const Graph graph = make_graph();
  uint32_t* ends = calloc(kWalkers, sizeof *ends);
  uint64_t sum = 0;
  for (uint32_t walker = 0; walker < kWalkers; walker += together)
    walk(&graph, walker, together, ends, &sum);
  printf("%llu\n", (unsigned long long)(sum * 31 + rank_ends(ends)));
  return 0;
}

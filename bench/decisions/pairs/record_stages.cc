// pair: record_stages
// branch: instruction_starvation
// place: stage|run_stages
// repair: a batch of records goes through one stage before the next, so that its code stays warm
//
// Generated stages clean up records, one function for each rule, as generators of parsers and of
// queries emit them. One record after the other runs through a quarter of a megabyte of code.
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#define NOINLINE __attribute__((noinline))

constexpr int kStages = 400, kFields = 16, kRecords = 6144, kBatch = 32;

struct Record {
  uint64_t field[kFields];
};

static uint32_t next_random(uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

constexpr uint64_t rule(uint64_t stage, uint64_t field) {
  const uint64_t mixed = (stage + 1) * 0x9e3779b97f4a7c15ull ^ (field + 1) * 0xbf58476d1ce4e5b9ull;
  return mixed ^ (mixed >> 29);
}

/// One rule for each field: fields do not wait for each other.
template <int Stage, int Field>
inline uint64_t apply_rule(uint64_t value) {
  constexpr uint64_t first = rule(Stage, Field), second = rule(Stage, Field + 99);
  constexpr int kind = (Stage * 7 + Field * 5) % 3, bits = 1 + first % 60;
  if constexpr (kind == 0) return (value ^ first) + second;
  if constexpr (kind == 1) return ((value << bits) | (value >> (64 - bits))) - second;
  return (value - first) ^ second;
}

template <int Stage, int... Field>
inline void apply_rules(Record& record, std::integer_sequence<int, Field...>) {
  ((record.field[Field] = apply_rule<Stage, Field>(record.field[Field])), ...);
}

template <int Stage>
NOINLINE void stage(Record* records, int count) {
  for (int i = 0; i < count; ++i)
    apply_rules<Stage>(records[i], std::make_integer_sequence<int, kFields>());
}

template <int... Stage>
NOINLINE void run_stages(std::vector<Record>& records, std::integer_sequence<int, Stage...>) {
#ifdef AFTER
  const int step = kBatch;
#else
  const int step = 1;
#endif
  for (int first = 0; first < kRecords; first += step) (stage<Stage>(&records[first], step), ...);
}

static NOINLINE std::vector<Record> read_records() {
  uint32_t seed = 2024;
  std::vector<Record> records(kRecords);
  for (Record& record : records)
    for (uint64_t& field : record.field) field = next_random(seed);
  return records;
}

/// How often each value of a byte occurs: what the next rules are made from.
static NOINLINE uint64_t count_bytes(const std::vector<Record>& records) {
  uint64_t counts[256] = {}, sum = 0;
  for (int round = 0; round < 300; ++round)
    for (const Record& record : records)
      for (uint64_t field : record.field) ++counts[(field >> (round % 50)) & 255];
  for (uint64_t count : counts) sum = sum * 31 + count;
  return sum;
}

int main() {
  std::vector<Record> records = read_records();
  uint64_t sum = 0;
  for (int pass = 0; pass < 6; ++pass)
    run_stages(records, std::make_integer_sequence<int, kStages>());
  sum += count_bytes(records);
  for (const Record& record : records)
    for (uint64_t field : record.field) sum = sum * 31 + field;
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
}

// pair: varint_reader
// branch: function_call_overhead
// place: next_byte|read_varint|read_message
// repair: messages are read through the final class of the stream, whose calls are inlined
//
// Decodes messages of numbers with variable length. Each byte is asked for through the virtual
// function of an interface, though all streams but those of tests are of one class.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#define NOINLINE __attribute__((noinline))

constexpr int kNumbers = 200000, kMessages = 160;

class Stream {
 public:
  virtual ~Stream() = default;
  virtual uint8_t next_byte() = 0;
  virtual bool at_end() const = 0;
};

class MemoryStream final : public Stream {
 public:
  explicit MemoryStream(const std::vector<uint8_t>& bytes) : bytes_(bytes) {}
  uint8_t next_byte() override {
    if (at_ >= bytes_.size()) return 0;
    return bytes_[at_++];
  }
  bool at_end() const override { return at_ >= bytes_.size(); }

 private:
  const std::vector<uint8_t>& bytes_;
  size_t at_ = 0;
};

/// As many bytes as are wanted, without a message: for tests.
class TestStream final : public Stream {
 public:
  uint8_t next_byte() override { return static_cast<uint8_t>(left_-- * 37); }
  bool at_end() const override { return left_ <= 0; }

 private:
  int left_ = 3 * kNumbers;
};

#ifdef AFTER
using Source = MemoryStream;
#else
using Source = Stream;
#endif

static uint32_t next_random(uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

/// Numbers of three bytes: samples of a sensor.
static NOINLINE std::vector<uint8_t> encode(uint32_t seed) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < kNumbers; ++i) {
    uint32_t value = (1u << 20) | (next_random(seed) & 0xfffff);
    for (; value >= 128; value >>= 7) bytes.push_back(static_cast<uint8_t>(value | 128));
    bytes.push_back(static_cast<uint8_t>(value));
  }
  return bytes;
}

static inline uint32_t read_varint(Source& source) {
  uint32_t value = 0;
  for (int shift = 0; shift < 32; shift += 7) {
    const uint32_t byte = source.next_byte();
    value |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  return value;
}

static NOINLINE void read_message(Source& source, std::vector<uint32_t>& values) {
  values.clear();
  while (!source.at_end()) values.push_back(read_varint(source));
}

/// Takes the noise out of the samples.
static NOINLINE uint64_t smooth(std::vector<uint32_t>& values) {
  uint64_t sum = 0;
  for (size_t i = 1; i + 1 < values.size(); ++i) {
    values[i] = (values[i - 1] + 2 * values[i] + values[i + 1]) / 4;
    sum = sum * 3 + values[i];
  }
  return sum;
}

static NOINLINE uint64_t find_peaks(const std::vector<uint32_t>& values) {
  uint64_t peaks = 0;
  for (size_t i = 1; i + 1 < values.size(); ++i)
    peaks += (values[i] > values[i - 1]) & (values[i] > values[i + 1]);
  return peaks;
}

static std::unique_ptr<Source> open_stream(const std::vector<uint8_t>& bytes, bool is_test) {
#ifndef AFTER
  if (is_test) return std::make_unique<TestStream>();
#endif
  (void)is_test;
  return std::make_unique<MemoryStream>(bytes);
}

int main(int count, char**) {
  std::vector<uint32_t> values;
  uint64_t sum = 0;
  const std::vector<uint8_t> bytes = encode(12582917);
  for (int message = 0; message < kMessages; ++message) {
    const std::unique_ptr<Source> source = open_stream(bytes, count > 1);
    read_message(*source, values);
    sum = sum * 31 + smooth(values);
    sum += find_peaks(values);
  }
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
}

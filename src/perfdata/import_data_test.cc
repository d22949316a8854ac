// Samples with data addresses, laid out by hand: which data objects they are of.

#include <fstream>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <map>
#include <sys/mman.h>

#include "base/file.h"
#include "perfdata/import.h"
#include "perfdata/test_file.h"

namespace culprit {
namespace {

using testing::Bytes;
using testing::TestEvent;
using testing::TestFile;

constexpr uint64_t kStackPointer = uint64_t{1} << 7;  // of x86-64, as perf's bit
constexpr uint64_t kFromL1 = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVLNUM, L1);
constexpr uint64_t kFromMemory = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVLNUM, RAM);

/// A recording of x86-64 with data addresses, latencies and sources, as perf mem writes it.
class DataRecording {
 public:
  DataRecording() {
    TestEvent event;
    event.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                        PERF_SAMPLE_REGS_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
    event.user_registers = kStackPointer;
    file_.event(event);
    constexpr uint32_t kArchitecture = 6;
    file_.feature(kArchitecture, Bytes().u32(8).padded("x86_64"));
  }

  DataRecording& map(uint64_t start, uint64_t length, uint64_t offset, std::string_view path,
                     uint32_t protection = PROT_READ | PROT_WRITE, uint32_t pid = kPid) {
    Bytes body;
    body.u32(pid).u32(pid).u64(start).u64(length).u64(offset).u32(8).u32(1).u64(17).u64(0);
    body.u32(protection).u32(0).padded(path).u32(pid).u32(pid).u64(++time_);
    file_.record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, body);
    return *this;
  }
  DataRecording& fork(uint32_t pid) {
    ++time_;
    Bytes body;
    body.u32(pid).u32(kPid).u32(pid).u32(kPid).u64(time_).u32(pid).u32(pid).u64(time_);
    file_.record(PERF_RECORD_FORK, 0, body);
    return *this;
  }
  DataRecording& exec(uint32_t pid) {
    file_.record(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC,
                 Bytes().u32(pid).u32(pid).padded("other").u32(pid).u32(pid).u64(++time_));
    return *this;
  }
  DataRecording& access(uint64_t address, uint64_t cycles = 4, uint64_t source = kFromL1,
                        uint64_t stack_pointer = 0x7ffe00010000, uint32_t pid = kPid) {
    Bytes body;
    body.u64(0x401010).u32(pid).u32(pid).u64(++time_).u64(address);
    body.u64(PERF_SAMPLE_REGS_ABI_64).u64(stack_pointer).u64(cycles).u64(source);
    file_.record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, body);
    return *this;
  }
  /// The program whose symbols symbols_of_program() has: its code, its data, its .bss.
  DataRecording& map_program() {
    map(0x401000, 0x1000, 0x1000, "/bin/prog", PROT_READ | PROT_EXEC);
    map(0x403000, 0x1000, 0x2000, "/bin/prog");
    return map(0x404000, 0x2000, 0x404000, "//anon");
  }
  DataRecording& map_code_only() {
    return map(0x401000, 0x1000, 0x1000, "/bin/prog", PROT_READ | PROT_EXEC);
  }

  static constexpr uint32_t kPid = 5;
  std::string bytes() { return file_.pipe_form(); }

 private:
  TestFile file_;
  uint64_t time_ = 1000;
};

/// Linked at 0; in the process 0x400000 higher.
std::optional<DataSymbols> symbols_of_program(const Fd&, const std::string& path) {
  EXPECT_EQ(path, "/bin/prog");
  DataSymbols symbols;
  symbols.loads = {{FileOffset(0x1000), LinkAddress(0x1000), 0x1000, 0x1000, true},
                   {FileOffset(0x2000), LinkAddress(0x3000), 0x1000, 0x3000, false}};
  symbols.sections = {{".data", LinkAddress(0x3000), 0x1000},
                      {".bss", LinkAddress(0x4000), 0x2000}};
  symbols.variables = {{"table", LinkAddress(0x3100), 0x40},
                       {"grid", LinkAddress(0x4100), 0x1000},
                       {"grid_middle", LinkAddress(0x4200), 8}};
  return symbols;
}

ImportTools tools_with(const ReadDataSymbols& read) {
  ImportTools tools;
  tools.open_image = [](const Image&, const std::string&) -> std::optional<Fd> {
    Result<Fd> file = copy_to_memory("");
    return file ? std::optional(*std::move(file)) : std::nullopt;
  };
  tools.read_data = read;
  return tools;
}

Profile import_data(DataRecording& recording, const ReadDataSymbols& read = symbols_of_program) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  EXPECT_TRUE(folder);
  const std::string path = folder->path() + "/perf.data";
  std::ofstream(path, std::ios::binary) << recording.bytes();
  Result<Imported> imported = import_perf_data({path, tools_with(read)}, {}, {});
  EXPECT_TRUE(imported) << imported.error().message;
  return imported ? std::move(imported->profile) : Profile();
}

using ByObject = std::map<std::string, uint64_t>;

/// Samples by object. Row 0 is the unknown one.
ByObject samples_by_object(const Profile& profile) {
  ByObject found;
  for (const Histogram& histogram : profile.histograms) {
    for (const EventColumn& column : histogram.columns) {
      for (size_t i = 0; i < histogram.offsets.size(); ++i) {
        const ObjectId object = histogram.objects.empty() ? ObjectId() : histogram.objects[i];
        const std::string name = object.is_all() ? "not recorded"
                                 : object == kUnknownObject
                                     ? "unknown"
                                     : profile.strings.text(profile.objects[object.value].name);
        found[name] += column.samples_at(i);
      }
    }
  }
  return found;
}

const DataObject* find_object(const Profile& profile, std::string_view name) {
  for (const DataObject& object : profile.objects) {
    if (profile.strings.text(object.name) == name) return &object;
  }
  return nullptr;
}

TEST(ImportData, NamesWhatMappingsAndSymbolsTell) {
  DataRecording recording;
  recording.map_program().map(0x10000000, 0x21000, 0, "//anon");
  recording.map(0x7f0000000000, 0x4000, 0, "/data/points", PROT_READ);
  recording.map(0x7f0000010000, 0x1000, 0, "//anon");
  recording.map(0x7f0000020000, 0x10000, 0, "//anon");
  recording.map(0x7ffe00000000, 0x21000, 0x7ffffffde000, "[stack]");
  recording.access(0x403100).access(0x40313f);  // table's first and last byte
  recording.access(0x403140);                   // behind it
  recording.access(0x404100).access(0x4050ff);  // grid, in memory that no file holds
  recording.access(0x401008);                   // a constant among the code
  recording.access(0x404207);                   // the symbol within
  recording.access(0x10000500);                 // no file: what follows the program
  recording.access(0x7f0000000010);             // a file that is not run
  recording.access(0x7f0000010010);             // memory of nobody
  recording.access(0x7f0000020010, 4, kFromL1, 0x7f0000020000);  // where the stack pointer is
  recording.access(0x7ffe00000010).access(0xffffffff81000000).access(0x1234);
  // The fault with which the stack grows, and one that the stack has nothing to do with.
  recording.access(0x7ffdffffe000, 4, kFromL1, 0x7ffdffffe000).access(0x7ffdffffe000);
  const Profile profile = import_data(recording);
  EXPECT_EQ(samples_by_object(profile), (ByObject{{"table", 2},
                                                  {"[code of prog]", 1},
                                                  {"[.data of prog]", 1},
                                                  {"grid", 2},
                                                  {"grid_middle", 1},
                                                  {"[heap]", 1},
                                                  {"/data/points", 1},
                                                  {"[anonymous]", 1},
                                                  {"[stack]", 3},
                                                  {"[kernel]", 1},
                                                  {"unknown", 2}}));
  EXPECT_EQ(profile.ledger.amount(ledger::kUnknownData), 2u);
  EXPECT_EQ(profile.ledger.amount(ledger::kUnnamedData),
            5u);  // section, code, heap, anonymous, kernel
  const DataObject* const grid = find_object(profile, "grid");
  ASSERT_NE(grid, nullptr);
  EXPECT_EQ(grid->kind, ObjectKind::global);
  EXPECT_EQ(grid->size_bytes, 0x1000u);
  EXPECT_EQ(grid->site.offset, FileOffset(0x3100));  // as if the file went on
}

/// perf record without -d: the mappings of code tell where the program's data is.
TEST(ImportData, WithoutMappingsOfDataNamesVariablesAndSaysWhatIsMissing) {
  DataRecording recording;
  recording.map_code_only().access(0x403100).access(0x404100).access(0x10000500);
  const Profile profile = import_data(recording);
  EXPECT_EQ(samples_by_object(profile),
            (ByObject{{"table", 1}, {"grid", 1}, {"[not in the recording]", 1}}));
  EXPECT_EQ(profile.ledger.amount(ledger::kDataMapsMissing), 1u);
  EXPECT_EQ(profile.ledger.amount(ledger::kUnknownData), 0u);
}

TEST(ImportData, SaysWhichFileCannotBeRead) {
  DataRecording recording;
  recording.map_program().access(0x403100).access(0x404100);
  const auto read_nothing = [](const Fd&, const std::string&) -> std::optional<DataSymbols> {
    return std::nullopt;
  };
  const Profile profile = import_data(recording, read_nothing);
  EXPECT_EQ(samples_by_object(profile), (ByObject{{"[data of prog]", 2}}));
}

TEST(ImportData, ForkKeepsMappingsAndExecForgetsThem) {
  DataRecording recording;
  recording.map_program().fork(6).access(0x403100, 4, kFromL1, 0, 6);
  recording.exec(6).access(0x403100, 4, kFromL1, 0, 6).access(0x403100);
  EXPECT_EQ(samples_by_object(import_data(recording)), (ByObject{{"table", 2}, {"unknown", 1}}));
}

TEST(ImportData, KeepsARowForEachPlaceObjectAndSource) {
  DataRecording recording;
  recording.map_program();
  for (uint64_t i = 0; i < 1000; ++i) {
    recording.access(0x404300 + i, i % 2 == 0 ? 4 : 200, i % 2 == 0 ? kFromL1 : kFromMemory);
  }
  const Profile profile = import_data(recording);
  ASSERT_EQ(profile.sampled_accesses.size(), 2u);
  EXPECT_EQ(profile.objects.size(), 2u);
  for (const SampledAccess& one : profile.sampled_accesses) {
    const uint64_t cycles = one.source == kFromL1 ? 4 : 200;
    EXPECT_EQ(one.samples, 500u);
    EXPECT_EQ(one.timed, 500u);
    EXPECT_EQ(one.latency_cycles, 500 * cycles);
    EXPECT_EQ(one.squared_latency, 500 * cycles * cycles);
  }
}

}  // namespace
}  // namespace culprit

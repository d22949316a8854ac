// Files laid out by hand, whole and damaged.

#include "perfdata/perf_data_file.h"

#include <fstream>
#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include "perfdata/test_file.h"

namespace culprit {
namespace {

using testing::Bytes;
using testing::TestEvent;
using testing::TestFile;
using testing::text_of;

TestFile small_file(std::endian order = std::endian::little) {
  TestFile file(order);
  TestEvent event;
  event.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  event.ids = {71, 72};
  file.event(event);
  const Bytes sample = file.bytes().u64(0x400123).u32(5).u32(5).u64(1000);
  file.record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sample);
  file.record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sample);
  return file.feature(3, file.bytes().u32(6).raw("host").zeros(2));
}

class PerfDataFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made);
    folder_.emplace(*std::move(made));
  }
  Result<PerfDataFile> open(const std::string& bytes) {
    const std::string path = folder_->path() + "/perf.data";
    std::ofstream(path, std::ios::binary) << bytes;
    return open_path(path);
  }
  static Result<PerfDataFile> open_path(const std::string& path) {
    ASSIGN_OR_RETURN(RecordingInput input, open_recording(path));
    return PerfDataFile::open(std::move(input));
  }
  /// What is said of the file, without what says which file it is.
  std::string error_of(const std::string& bytes) {
    const Result<PerfDataFile> file = open(bytes);
    if (file) return "opened";
    const std::string begin = "cannot import '" + folder_->path() + "/perf.data': ";
    EXPECT_TRUE(file.error().message.starts_with(begin)) << file.error().message;
    return file.error().message.substr(begin.size());
  }
  std::optional<TemporaryFolder> folder_;
};

TEST_F(PerfDataFiles, OpenInBothFormsAndByteOrders) {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    const TestFile made = small_file(order);
    for (const std::string& bytes : {made.file_form(), made.pipe_form()}) {
      Result<PerfDataFile> file = open(bytes);
      ASSERT_TRUE(file) << file.error().message;
      int records = 0;
      while (true) {
        const auto record = file->next();
        ASSERT_TRUE(record);
        if (!*record) break;
        ++records;
      }
      EXPECT_EQ(records, 2);
      EXPECT_EQ(file->order(), order);
      EXPECT_EQ(file->facts().host, "host");
      ASSERT_EQ(file->attributes().events().size(), 1u);
      EXPECT_EQ(file->attributes().find(72), 0u);
      EXPECT_EQ(file->attributes().find(73), std::nullopt);
      EXPECT_EQ(file->total_bytes(), bytes.size());
      EXPECT_FALSE(file->is_unfinished());
      EXPECT_EQ(file->damaged_records(), 0u);
    }
  }
}

TEST_F(PerfDataFiles, ThatAreNoneAreRefused) {
  EXPECT_EQ(error_of(""), "it ends after 0 bytes: not a perf.data file, or cut off");
  EXPECT_EQ(error_of("PERFILE2"), "it ends after 8 bytes: not a perf.data file, or cut off");
  EXPECT_EQ(error_of("SQLite format 3 and so on"),
            "it is not a perf.data file (it does not begin with PERFILE2)");
  EXPECT_NE(error_of("PERFFILE12345678").find("before Linux 2.6.34"), std::string::npos);
  EXPECT_NE(open_path(folder_->path()).error().message.find("folder"), std::string::npos);
  EXPECT_NE(open_path(folder_->path() + "/absent").error().message.find("No such file"),
            std::string::npos);
}

/// The file with the 8 bytes at `at` replaced.
std::string with(std::string bytes, size_t at, uint64_t value) {
  return bytes.replace(at, 8, text_of(Bytes().u64(value)));
}

// Places in the header: size 8, size of an entry 16, events 24 and 32, records 40 and 48.
TEST_F(PerfDataFiles, WithADamagedHeaderSayWhatIsWrong) {
  const std::string good = small_file().file_form();
  EXPECT_EQ(error_of(with(good, 8, 40)), "its header says a size of 40 bytes, 104 expected");
  EXPECT_EQ(error_of(good.substr(0, 60)),
            "it ends after 44 bytes: not a perf.data file, or cut off");
  EXPECT_EQ(error_of(with(good, 16, 10)), "its header says that an event takes 10 bytes");
  EXPECT_EQ(error_of(with(good, 16, ~0ULL)),
            "its header says that an event takes 18446744073709551615 bytes");
  EXPECT_NE(error_of(with(good, 24, ~0ULL)).find("its events"), std::string::npos);
  EXPECT_NE(error_of(with(good, 32, ~0ULL)).find("its events"), std::string::npos);
  EXPECT_NE(error_of(with(good, 40, ~0ULL)).find("its records begin at"), std::string::npos);
  // The section of ids stands at the end of the only entry; ids take 16 bytes after the header.
  constexpr size_t kIds = 104 + 16 + TestEvent::kBytes;
  EXPECT_NE(error_of(with(good, kIds, ~0ULL)).find("its event ids"), std::string::npos);
  EXPECT_NE(error_of(with(good, kIds + 8, 1 << 20)).find("its event ids"), std::string::npos);
}

TEST_F(PerfDataFiles, WithoutASizeOfRecordsAreReadToTheirEnd) {
  std::string bytes = small_file().file_form();
  bytes.resize(bytes.size() - 26);  // no features, neither table nor content: perf was killed
  Result<PerfDataFile> file = open(with(bytes, 48, 0));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->is_unfinished());
  EXPECT_TRUE(file->next()->has_value());
  EXPECT_TRUE(file->next()->has_value());
  EXPECT_FALSE(file->next()->has_value());
}

TEST_F(PerfDataFiles, LeaveOutDamagedFeatures) {
  const std::string good = small_file().file_form();
  // The table's only entry stands before the content, 10 bytes: point it past the end.
  Result<PerfDataFile> file = open(with(good, good.size() - 26, good.size()));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->damaged_records(), 1u);
  EXPECT_EQ(file->facts().host, "");
  EXPECT_TRUE(file->next()->has_value());
}

TEST_F(PerfDataFiles, PassOverAuxTracesAndCountThem) {
  TestFile made = small_file();
  made.record(71, 0, Bytes().u64(5).u64(0).u64(0).zeros(16)).raw("trace");
  made.record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, Bytes().u64(1).u64(2).u64(3));
  Result<PerfDataFile> file = open(made.pipe_form());
  ASSERT_TRUE(file);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(file->next()->has_value());
  EXPECT_FALSE(file->next()->has_value());
  EXPECT_EQ(file->aux_bytes(), 5u);
}

TEST_F(PerfDataFiles, AreCutOffAnywhereWithoutHarm) {
  for (const std::string& whole : {small_file().file_form(), small_file().pipe_form()}) {
    for (size_t size = 0; size < whole.size(); ++size) {
      Result<PerfDataFile> file = open(whole.substr(0, size));
      while (file) {
        const auto record = file->next();
        if (!record || !*record) break;
      }
    }
  }
}

}  // namespace
}  // namespace culprit

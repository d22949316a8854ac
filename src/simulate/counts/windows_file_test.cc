#include "simulate/counts/windows_file.h"

#include <fstream>
#include <gtest/gtest.h>

#include "base/file.h"

namespace culprit::counting {
namespace {

class WindowsFileTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made.has_value());
    folder_.emplace(*std::move(made));
    path_ = windows_file_path(folder_->path() + "/1.0");
  }
  Result<Window> read_back(size_t index, size_t blocks = 1000, size_t sites = 1000) const {
    ASSIGN_OR_RETURN(const WindowsFile file, WindowsFile::read(path_));
    return file.window(index, blocks, sites);
  }

  void put(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  std::optional<TemporaryFolder> folder_;
  std::string path_;
};

const Window kWindow{.core = 3,
                     .number = 7,
                     .stratum = 2,
                     .segment = 1'000'000'000'000,
                     .runs = {{1, 5}, {900, 1'000'000'000'000}},
                     .values = {{2, 0, 127}, {2, 40, 128}, {999, kWindowValues - 1, 1}}};

TEST_F(WindowsFileTest, HasWhatWasWritten) {
  ASSERT_TRUE(append_window(path_, kWindow));
  const Result<Window> window = read_back(0);
  ASSERT_TRUE(window) << window.error().message;
  EXPECT_EQ(window->core, 3U);
  EXPECT_EQ(window->number, 7U);
  EXPECT_EQ(window->stratum, 2U);
  EXPECT_EQ(window->segment, 1'000'000'000'000U);
  ASSERT_EQ(window->runs.size(), 2U);
  EXPECT_EQ(window->runs[1].block, 900U);
  EXPECT_EQ(window->runs[1].runs, 1'000'000'000'000U);
  ASSERT_EQ(window->values.size(), 3U);
  EXPECT_EQ(window->values[1].site, 2U);
  EXPECT_EQ(window->values[1].which, 40U);
  EXPECT_EQ(window->values[1].amount, 128U);
  EXPECT_EQ(window->values[2].site, 999U);
}

TEST_F(WindowsFileTest, IsInTheOrderOfWindowsWhateverThatOfThreads) {
  Window late = kWindow;
  late.number = 9;
  ASSERT_TRUE(append_window(path_, late));
  ASSERT_TRUE(append_window(path_, kWindow));
  EXPECT_EQ(read_back(0)->number, 7U);
  EXPECT_EQ(read_back(1)->number, 9U);
}

TEST_F(WindowsFileTest, NoFileIsNoWindows) {
  const Result<WindowsFile> file = WindowsFile::read(path_);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->size(), 0U);
}

// It may be read while it is written; and the program could have written anything.
TEST_F(WindowsFileTest, LeavesOutWhatIsCutAndRejectsWhatIsWrong) {
  ASSERT_TRUE(append_window(path_, kWindow));
  const std::string whole = *read_file(path_, 1 << 20);
  for (size_t size = 0; size < whole.size(); ++size) {
    put(whole.substr(0, size));
    const Result<WindowsFile> file = WindowsFile::read(path_);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->size(), 0U);
  }
  put(whole);
  EXPECT_FALSE(read_back(0, 900, 1000));  // block 900 is none
  EXPECT_FALSE(read_back(0, 1000, 999));
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[at] = byte;
      put(changed);
      const Result<WindowsFile> file = WindowsFile::read(path_);
      if (!file || file->size() == 0) continue;
      if (const Result<Window> window = file->window(0, 1000, 1000)) {
        for (const WindowValue& value : window->values) EXPECT_LT(value.site, 1000U);
      }
    }
  }
}

}  // namespace
}  // namespace culprit::counting

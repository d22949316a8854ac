#include "base/file.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace culprit {
namespace {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made) << made.error().message;
    folder_.emplace(*std::move(made));
  }
  std::string make(const std::string& name, const std::string& content) const {
    const std::string path = folder_->path() + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::optional<TemporaryFolder> folder_;
};

TEST_F(FileTest, ReadsWholeFiles) {
  std::string content("a\0b", 3);
  content.append(200'000, 'x');
  EXPECT_EQ(*read_file(make("f", content)), content);
  EXPECT_EQ(*read_file(make("empty", "")), "");
}

TEST_F(FileTest, ReadsFilesOfProc) {
  const Result<std::string> status = read_file("/proc/self/status");  // its size is 0
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->starts_with("Name:"));
}

TEST_F(FileTest, RefusesMoreThanTheLimit) {
  const std::string path = make("f", "12345");
  EXPECT_TRUE(read_file(path, 5));
  const Result<std::string> more = read_file(path, 4);
  ASSERT_FALSE(more);
  EXPECT_NE(more.error().message.find("larger than 4 bytes"), std::string::npos);
}

TEST_F(FileTest, NamesWhatIsNoFile) {
  EXPECT_NE(open_readable("/nowhere/at/all").error().message.find("'/nowhere/at/all': No such"),
            std::string::npos);
  EXPECT_NE(open_readable(folder_->path()).error().message.find("is a directory"),
            std::string::npos);
  EXPECT_FALSE(open_readable("/dev/null"));
}

TEST_F(FileTest, AFifoDoesNotHang) {
  const std::string path = folder_->path() + "/fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(open_readable(path));
}

TEST_F(FileTest, FdClosesWhatItOwnsOnce) {
  int number = -1;
  {
    Result<Fd> fd = open_readable(make("f", "x"));
    ASSERT_TRUE(fd);
    number = fd->get();
    Fd moved = *std::move(fd);
    EXPECT_EQ(moved.get(), number);
    EXPECT_EQ(::fcntl(number, F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST_F(FileTest, MapsContentAndEmptyFiles) {
  const Result<Fd> fd = open_readable(make("f", "hello"));
  Result<MappedFile> map = MappedFile::map(fd->get(), "f");
  ASSERT_TRUE(map);
  const MappedFile moved = *std::move(map);
  ASSERT_EQ(moved.bytes().size(), 5u);
  EXPECT_EQ(static_cast<char>(moved.bytes()[4]), 'o');
  const Result<Fd> empty = open_readable(make("empty", ""));
  const Result<MappedFile> nothing = MappedFile::map(empty->get(), "empty");
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(nothing->bytes().empty());
  EXPECT_FALSE(MappedFile::map(-1, "none"));
}

TEST_F(FileTest, PagesThatAFileLosesReadAsZeros) {
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const std::string path = make("f", std::string(3 * page, 'x'));
  const Result<Fd> fd = open_readable(path);
  const Result<MappedFile> map = MappedFile::map(fd->get(), "f");
  ASSERT_TRUE(map);
  EXPECT_FALSE(map->has_changed());
  ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(page)), 0);
  // POSIX: references to whole pages behind the end of the file raise SIGBUS.
  EXPECT_EQ(static_cast<char>(map->bytes()[0]), 'x');
  EXPECT_EQ(static_cast<char>(map->bytes()[page]), '\0');
  EXPECT_EQ(static_cast<char>(map->bytes()[3 * page - 1]), '\0');
  EXPECT_TRUE(map->has_changed());
}

TEST_F(FileTest, NoticesThatAMappedFileWasWritten) {
  const std::string path = make("f", "hello");
  const Result<Fd> fd = open_readable(path);
  const Result<MappedFile> map = MappedFile::map(fd->get(), "f");
  ASSERT_TRUE(map);
  const timespec epoch[2] = {{1, 0}, {1, 0}};  // the new content may be as long and come at once
  make("f", "HELLO");
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), epoch, 0), 0);
  EXPECT_TRUE(map->has_changed());
}

TEST_F(FileTest, OtherFaultsStillEndTheProgram) {
  const Result<Fd> fd = open_readable(make("f", "hello"));
  const Result<MappedFile> map = MappedFile::map(fd->get(), "f");
  ASSERT_TRUE(map);
  EXPECT_EXIT(::raise(SIGBUS), testing::KilledBySignal(SIGBUS), "");
}

TEST_F(FileTest, TemporaryFolderGoesWithAllItHolds) {
  std::string path;
  {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made);
    path = made->path();
    std::filesystem::create_directories(path + "/a/b");
    std::ofstream(path + "/a/b/c") << "x";
    const TemporaryFolder moved = *std::move(made);
    EXPECT_TRUE(file_exists(path));
  }
  EXPECT_FALSE(file_exists(path));
}

}  // namespace
}  // namespace culprit

#pragma once

// For tests: a folder for files, a small profile, and a check that shows messages.

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "store/profile_file.h"

namespace culprit {

#define ASSERT_GOOD(result) ASSERT_TRUE(result) << (result).error().message

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    // Files are kept in memory where there is such a place, because every transaction waits for its
    // disk.
    if (::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 1);
    Result<TemporaryFolder> folder = TemporaryFolder::make();
    ASSERT_GOOD(folder);
    folder_.emplace(*std::move(folder));
    path_ = folder_->path() + "/p.culprit";
  }

  /// One context, event and image; 2 cells of 1 and 2 samples.
  static Profile small_profile() {
    Profile p;
    p.contexts.emplace_back();
    p.events.push_back(
        {p.strings.intern("cpu-clock"), Unit::ns, Provenance::sampled, {}, {}, 1001003, 1});
    p.images.emplace_back();
    p.histograms.push_back({ContextId(0u),
                            ImageId(0u),
                            {FileOffset(16), FileOffset(32)},
                            {{EventId(0u), {1, 2}, {1001003, 2002006}, {}}}});
    return p;
  }

  /// A complete file at path_.
  void write(const Profile& profile) {
    Result<ProfileWriter> writer = ProfileWriter::create(path_);
    ASSERT_GOOD(writer);
    const Result<void> closed = writer->close(profile);
    ASSERT_GOOD(closed);
  }

  /// Opens and reads everything: profile, and the facts of all images.
  static Result<Profile> read(const std::string& path) {
    ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
    ASSIGN_OR_RETURN(Profile profile, reader.read_profile());
    for (size_t i = 0; i < profile.images.size(); ++i) {
      RETURN_IF_ERROR(reader.read_facts(ImageId(i)));
    }
    return profile;
  }

  /// Runs `body` in a child without root's rights; what it returns (0 to 250).
  static int run_as_nobody(const auto& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::geteuid() == 0 && ::setuid(65534) != 0 ? 251 : body());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 252;
  }

  static uint64_t samples_of(const Profile& profile) {
    uint64_t sum = 0;
    for (const Histogram& histogram : profile.histograms) {
      for (const EventColumn& column : histogram.columns) {
        for (const uint64_t samples : column.samples) sum += samples;
      }
    }
    return sum;
  }

  std::optional<TemporaryFolder> folder_;
  std::string path_;
};

}  // namespace culprit

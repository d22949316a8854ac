#include "cli/roomy_file.h"

#include <cstdlib>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/file.h"

namespace culprit {

namespace {

std::optional<dev_t> device_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_dev;
}

std::vector<std::string> folders_elsewhere(const std::string& path) {
  std::vector<std::string> folders;
  const auto add = [&](const char* folder) {
    if (folder == nullptr || *folder == '\0') return;
    const std::optional<dev_t> device = device_of(folder);
    if (device && device != device_of(path)) folders.emplace_back(folder);
  };
  add(std::getenv("TMPDIR"));
  for (const char* folder : {"/var/tmp", "/tmp", "/dev/shm"}) add(folder);
  add(std::getenv("HOME"));
  return folders;
}

/// A file that is removed, with its new folder, unless it is kept.
class FileElsewhere {
 public:
  FileElsewhere(const std::string& folder, const std::string& name)
      : folder_(folder + "/culprit-XXXXXX") {
    // The folder is for us alone: others may write where it is, and may not know its name.
    if (::mkdtemp(folder_.data()) != nullptr) path_ = folder_ + "/" + name;
  }
  FileElsewhere(FileElsewhere&& other) noexcept
      : folder_(std::move(other.folder_)), path_(std::exchange(other.path_, "")) {}
  FileElsewhere& operator=(FileElsewhere&&) = delete;
  ~FileElsewhere() {
    if (path_.empty()) return;
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }

  /// "": the folder could not be made.
  [[nodiscard]] const std::string& path() const { return path_; }
  std::string keep() { return std::exchange(path_, ""); }

 private:
  std::string folder_;
  std::string path_;
};

}  // namespace

Result<std::string> close_where_there_is_room(ProfileWriter& writer, const Profile& profile,
                                              const std::string& path) {
  const Result<void> done = writer.close(profile);
  if (done) return path;
  if (done.error().kind != ErrorKind::out_of_space) return done.error();
  const std::string name = path.substr(path.rfind('/') + 1);
  std::vector<FileElsewhere> tried;  // the next copy is made of the last one
  for (const std::string& folder : folders_elsewhere(path)) {
    FileElsewhere file(folder, name);
    if (file.path().empty() || !writer.move_to(file.path())) continue;
    if (writer.close(profile)) return file.keep();
    tried.push_back(std::move(file));
  }
  return done.error();
}

}  // namespace culprit

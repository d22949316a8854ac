#include "epochs/epoch_database.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "store/profile_file.h"

namespace culprit {

namespace {

constexpr std::string_view kVersionWords = "culprit epochs ";
constexpr uint64_t kVersion = 1;
constexpr mode_t kFolderMode = 0750;  // what a machine runs is not everybody's to know

std::vector<std::string> list_files(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return names;
  while (const dirent* entry = ::readdir(open.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<void> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), kFolderMode) == 0 || errno == EEXIST) return {};
  return errno_error("cannot make the folder '" + path + "'", errno);
}

/// What is in a folder survives a loss of power once this is done.
void sync_folder(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) ::fsync(fd.get());
}

Result<void> check_version(const std::string& folder) {
  const Result<std::string> text = read_file(folder + "/version", 1024);
  if (!text) {
    return Error{
        fmt::format("'{}' is no database of epochs (it has no file 'version'): "
                    "culprit daemon --db {} makes one",
                    folder, folder)};
  }
  const std::string_view words = trim(*text);
  const auto version = words.starts_with(kVersionWords)
                           ? find_number(words.substr(kVersionWords.size()), 10)
                           : std::nullopt;
  if (!version) {
    return Error{fmt::format("'{}/version' is not of a database of epochs", folder)};
  }
  if (*version > kVersion) {
    return Error{
        fmt::format("'{}' is a database of version {}, which this culprit does not know "
                    "(it knows {}): use the culprit that made it, or a newer one",
                    folder, *version, kVersion)};
  }
  return {};
}

Result<void> make_database(const std::string& folder) {
  RETURN_IF_ERROR(make_folder(folder));
  const std::string version = folder + "/version";
  if (!file_exists(version)) {
    if (!list_files(folder).empty()) {
      return Error{
          fmt::format("'{}' has files in it but is no database of epochs: give an empty "
                      "folder, or one that does not exist yet",
                      folder)};
    }
    const std::string text = fmt::format("{}{}\n", kVersionWords, kVersion);
    const Fd fd(::open(version.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640));
    if (!fd || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      return errno_error("cannot write '" + version + "'", errno);
    }
  }
  RETURN_IF_ERROR(check_version(folder));
  for (const char* inside : {"/epochs", "/current", "/facts"}) {
    RETURN_IF_ERROR(make_folder(folder + inside));
  }
  return {};
}

Result<Fd> lock_database(const std::string& folder) {
  const std::string path = folder + "/lock";
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640));
  if (!fd) return errno_error("cannot open '" + path + "'", errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{
        fmt::format("'{}' is in use: another daemon collects into it "
                    "(culprit daemon status --db {})",
                    folder, folder)};
  }
  return fd;
}

}  // namespace

std::string find_database_around(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error).lexically_normal();
  const std::filesystem::path inside = whole.parent_path();
  if (error || !parse_epoch_name(whole.filename().string())) return "";
  if (inside.filename() != "epochs" && inside.filename() != "current") return "";
  const std::string folder = inside.parent_path().string();
  return EpochDatabase::open(folder) ? folder : "";
}

std::string read_boot() {
  std::string id = read_file("/proc/sys/kernel/random/boot_id", 256).value_or("");
  std::erase(id, '-');
  id = id.substr(0, 8);
  return id.size() == 8 ? id : "00000000";
}

Result<EpochDatabase> EpochDatabase::open(const std::string& folder) {
  struct stat status{};
  if (::stat(folder.c_str(), &status) != 0) {
    return errno_error("cannot open the database '" + folder + "'", errno);
  }
  if (::access((folder + "/epochs").c_str(), R_OK | X_OK) != 0 && errno == EACCES) {
    return errno_error("cannot read the database '" + folder + "'", errno);
  }
  RETURN_IF_ERROR(check_version(folder));
  return EpochDatabase(folder, Fd());
}

Result<EpochDatabase> EpochDatabase::claim(const std::string& folder) {
  RETURN_IF_ERROR(make_database(folder));
  ASSIGN_OR_RETURN(Fd lock, lock_database(folder));
  EpochDatabase database(folder, std::move(lock));
  database.boot_ = read_boot();
  database.recover();
  for (const EpochFile& file : database.list()) {
    if (file.name.boot == database.boot_) {
      database.next_ = std::max(database.next_, file.name.last + 1);
    }
  }
  return database;
}

/// Nobody else writes here now: what is in current/ was left by a daemon that was killed.
void EpochDatabase::recover() {
  for (const std::string& file : list_files(folder_ + "/current")) {
    const std::string path = folder_ + "/current/" + file;
    std::optional<EpochName> name = parse_epoch_name(file);
    if (!name) {
      if (file.ends_with(".tmp")) ::unlink(path.c_str());
      continue;
    }
    const auto recovered = [&]() -> Result<std::optional<uint64_t>> {
      {
        ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::open(path));
        RETURN_IF_ERROR(writer.close());
      }
      ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
      ASSIGN_OR_RETURN(const Profile profile, reader.read_profile());
      if (profile.runs.empty()) return std::optional<uint64_t>();  // killed before the first flush
      const int64_t length_ns = profile.runs.back().duration_ns;
      return std::optional(static_cast<uint64_t>(std::max<int64_t>(length_ns, 0)) / 1'000'000'000);
    }();
    if (recovered && !*recovered) {
      ::unlink(path.c_str());
      continue;
    }
    if (recovered && finish(path, **recovered)) {
      remarks_.push_back("recovered the epoch '" + file + "', which was not closed");
      continue;
    }
    static_cast<void>(make_folder(folder_ + "/damaged"));
    ::rename(path.c_str(), (folder_ + "/damaged/" + file).c_str());
    remarks_.push_back(
        fmt::format("put the unfinished epoch '{}' into damaged/: {}", file,
                    recovered ? "it could not be renamed" : recovered.error().message));
  }
  std::vector<EpochName> names;
  for (const std::string& file : list_files(folder_ + "/epochs")) {
    if (const auto name = parse_epoch_name(file)) names.push_back(*name);
  }
  for (const EpochName& left : find_left_over(names)) {
    ::unlink((folder_ + "/epochs/" + format_epoch_name(left)).c_str());
  }
}

std::vector<EpochFile> EpochDatabase::list() const {
  std::vector<EpochFile> files;
  for (const bool is_current : {false, true}) {
    const std::string inside = folder_ + (is_current ? "/current" : "/epochs");
    for (const std::string& file : list_files(inside)) {
      std::optional<EpochName> name = parse_epoch_name(file);
      struct stat status{};
      const std::string path = inside + "/" + file;
      if (!name || ::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
      if (is_current) {
        const int64_t length_s = status.st_mtim.tv_sec - name->start_s;
        name->length_s = static_cast<uint64_t>(std::max<int64_t>(length_s, 0));
      }
      files.push_back({*name, path, static_cast<uint64_t>(status.st_size), is_current});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const EpochFile& a, const EpochFile& b) { return a.name < b.name; });
  return files;
}

std::vector<EpochFile> EpochDatabase::find(const TimeSpan& span) const {
  std::vector<EpochFile> files = list();
  std::vector<EpochName> names;
  for (const EpochFile& file : files) names.push_back(file.name);
  const std::vector<EpochName> chosen = choose_epochs(names, span);
  std::erase_if(files, [&](const EpochFile& file) {
    return !std::binary_search(chosen.begin(), chosen.end(), file.name);
  });
  return files;
}

std::string EpochDatabase::path_of_next(int64_t start_s) {
  const EpochName name{start_s, 0, boot_, next_, next_};
  ++next_;
  return folder_ + "/current/" + format_epoch_name(name);
}

Result<std::string> EpochDatabase::finish(const std::string& path, uint64_t length_s) {
  std::optional<EpochName> name = parse_epoch_name(path.substr(path.rfind('/') + 1));
  CHECK(name.has_value());
  name->length_s = length_s;
  std::string to = folder_ + "/epochs/" + format_epoch_name(*name);
  if (::rename(path.c_str(), to.c_str()) != 0) {
    return errno_error("cannot rename '" + path + "' to '" + to + "'", errno);
  }
  sync_folder(folder_ + "/epochs");
  return to;
}

}  // namespace culprit

#include "cli/output_file.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "store/writer_lock.h"

namespace culprit {

namespace {

/// How files of a kind are named to people, and what stands in their first bytes.
struct KindMark {
  OutputKind kind;
  const char* name;
  std::string_view mark;
};
// The writers of these formats: calibrate/calibration_text.cc, exports/, report/report_json.cc and
// counts/print_counts.cc.
constexpr KindMark kMarks[] = {
    {OutputKind::profile, "a profile of Culprit", {}},  // looks_like_profile()
    {OutputKind::machine_file, "a machine file that culprit calibrate wrote",
     "# Measured by `culprit calibrate`"},
    {OutputKind::pprof, "a pprof profile that culprit wrote", "culprit export --to pprof"},
    {OutputKind::callgrind, "a callgrind profile that culprit wrote", "\ncreator: culprit\n"},
    {OutputKind::dot, "a graph that culprit wrote", "// culprit export --to dot\n"},
    {OutputKind::report_json, "a report that culprit wrote", "\"culprit-report-"},
    {OutputKind::report_csv, "a table of addresses that culprit wrote",
     "process,process_id,thread,thread_id,module,function,inlined,file,line,address,"},
    {OutputKind::stat_json, "a table of counts that culprit wrote", "\"culprit-stat-"},
    {OutputKind::html, "a page that culprit wrote", "<title>Culprit</title>"},
    {OutputKind::plain, "empty, and this format has no mark to know it by", {}},
};

const KindMark& mark_of(OutputKind kind) {
  for (const KindMark& one : kMarks) {
    if (one.kind == kind) return one;
  }
  CHECK(false);
}

std::string journal_of(const std::string& path) {
  return path + "-journal";
}

bool is_of_kind(int fd, OutputKind kind) {
  if (kind == OutputKind::profile) return looks_like_profile(fd);
  const std::string_view mark = mark_of(kind).mark;
  char head[256];
  const ssize_t got = ::pread(fd, head, sizeof head, 0);
  if (mark.empty() || got <= 0) return false;
  return std::string_view(head, static_cast<size_t>(got)).find(mark) != std::string_view::npos;
}

bool is_input(const struct stat& status, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    struct stat its{};
    if ((input == "-" ? ::fstat(STDIN_FILENO, &its) : ::stat(input.c_str(), &its)) != 0) continue;
    if (its.st_dev == status.st_dev && its.st_ino == status.st_ino) return true;
  }
  return false;
}

/// Whether the open file may be replaced. What is no regular file keeps nothing that could be lost.
Result<void> check_replaceable(int fd, const std::string& path, const OutputRequest& request) {
  const std::string name = in_quotes(path);
  struct stat status{};
  if (::fstat(fd, &status) != 0) return errno_error("cannot write " + name, errno);
  if (!S_ISREG(status.st_mode)) return {};
  if (is_input(status, request.inputs)) {
    return Error{"cannot write " + name + ": it is what this command reads\nname another file"};
  }
  if (is_being_written(fd)) {
    return Error{"cannot write " + name + ": another program is recording into it"};
  }
  if (status.st_size == 0 || request.force || is_of_kind(fd, request.kind)) return {};
  return Error{
      fmt::format("{} is there, and is not {}: it is left as it is\nname another file, or replace "
                  "it by --force",
                  name, mark_of(request.kind).name)};
}

/// Checks a file that is to be moved away; nothing there is fine.
Result<void> check_movable(const std::string& path, const OutputRequest& request) {
  const std::string name = in_quotes(path);
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? Result<void>() : errno_error("cannot write " + name, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{"cannot write " + name + ": it exists and is not a regular file"};
  }
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && status.st_size > 0 && !request.force) {
    return errno_error("cannot see what " + name + " is, and replace it", errno);
  }
  return file ? check_replaceable(file.get(), path, request) : Result<void>();
}

/// The number of a descriptor that a path like /dev/stdout or /dev/fd/3 stands for.
std::optional<int> find_descriptor(std::string_view path) {
  if (path.empty() || path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    path.remove_prefix(folder.size());
    int number = 0;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), number);
    if (error == std::errc() && end == path.data() + path.size()) return number;
    break;
  }
  return std::nullopt;
}

}  // namespace

// ---- OutputFile ----

Result<void> check_output(const OutputRequest& request) {
  const std::string& path = request.path;
  RETURN_IF_ERROR(check_movable(path, request));
  std::string folder = path.substr(0, path.rfind('/') + 1);  // npos + 1 == 0: no slash
  if (folder.empty()) folder = ".";
  if (::access(folder.c_str(), W_OK) != 0) {
    return errno_error("cannot write " + in_quotes(path), errno);
  }
  struct stat status{};
  const bool moves = ::lstat(path.c_str(), &status) == 0 && status.st_size > 0;
  return moves ? check_movable(path + ".old", request) : Result<void>();
}

Result<OutputFile> OutputFile::claim(const OutputRequest& request) {
  const std::string& path = request.path;
  const std::string old = path + ".old";
  RETURN_IF_ERROR(check_output(request));
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return OutputFile(path, false);
  if (status.st_size == 0) {  // as mktemp makes it
    if (::unlink(path.c_str()) != 0) return errno_error("cannot write " + in_quotes(path), errno);
    return OutputFile(path, false);
  }
  // An interrupted profile has a journal beside it, which belongs to it by its name.
  ::unlink(journal_of(old).c_str());
  ::rename(journal_of(path).c_str(), journal_of(old).c_str());
  if (::rename(path.c_str(), old.c_str()) != 0) {
    return errno_error("cannot move " + in_quotes(path) + " to " + in_quotes(old), errno);
  }
  return OutputFile(path, true);
}

void OutputFile::give_back() const {
  ::unlink(path_.c_str());
  ::unlink(journal_of(path_).c_str());
  if (!moved_old_) return;
  ::rename(journal_of(path_ + ".old").c_str(), journal_of(path_).c_str());
  ::rename((path_ + ".old").c_str(), path_.c_str());
}

// ---- OutputStream ----

void OutputStream::Close::operator()(std::FILE* file) const {
  std::fclose(file);
}

OutputStream::~OutputStream() {
  if (file_ && is_new_ && !has_begun_) ::unlink(path_.c_str());
}

Result<OutputStream> OutputStream::open(const OutputRequest& request) {
  const std::string& path = request.path;
  bool is_new = false;
  Fd fd;
  if (const std::optional<int> descriptor = find_descriptor(path)) {
    fd = Fd(::fcntl(*descriptor, F_DUPFD_CLOEXEC, 0));
    struct stat status{};
    if (fd && ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) &&
        is_input(status, request.inputs)) {
      return Error{"the output goes into the file that is read\nname another file"};
    }
  } else {
    fd = Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    is_new = static_cast<bool>(fd);
    struct stat status{};
    if (!fd && errno == EEXIST && ::stat(path.c_str(), &status) == 0) {
      // It is opened for reading, too: a file is looked at before it is replaced.
      const int access = S_ISREG(status.st_mode) ? O_RDWR : O_WRONLY;
      fd = Fd(::open(path.c_str(), access | O_CLOEXEC | O_NOCTTY));
      if (fd) RETURN_IF_ERROR(check_replaceable(fd.get(), path, request));
    }
  }
  std::FILE* const file = fd ? ::fdopen(fd.get(), "w") : nullptr;
  if (file == nullptr) return errno_error("cannot write " + in_quotes(path), errno);
  static_cast<void>(fd.release());
  return OutputStream(path, file, is_new);
}

Result<void> OutputStream::write(std::string_view text) {
  const std::string name = find_descriptor(path_) ? "the output" : in_quotes(path_);
  const int fd = ::fileno(file_.get());
  const bool is_first = !std::exchange(has_begun_, true);
  struct stat status{};
  if (is_first && !find_descriptor(path_) && ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    // A disk that is full says so while what the file held is still there.
    const int full = text.empty() ? 0 : ::posix_fallocate(fd, 0, static_cast<off_t>(text.size()));
    if (full == ENOSPC || full == EDQUOT || full == EFBIG) {
      has_begun_ = !is_new_;
      return errno_error("cannot write " + name, full);
    }
    if (::ftruncate(fd, 0) != 0) return errno_error("cannot write " + name, errno);
  }
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() ||
      std::fflush(file_.get()) != 0) {
    return errno_error("cannot write " + name, errno);
  }
  return {};
}

bool OutputStream::is_terminal() const {
  return ::isatty(::fileno(file_.get())) == 1;
}

std::string file_size_text(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return "?";
  return format_bytes(static_cast<uint64_t>(status.st_size));
}

void survive_file_size_limit() {
  struct sigaction action{};
  ::sigaction(SIGXFSZ, nullptr, &action);
  if (action.sa_handler != SIG_DFL) return;
  action.sa_handler = [](int) {};
  ::sigaction(SIGXFSZ, &action, nullptr);
}

}  // namespace culprit

#pragma once

// The files that commands write, and what may be lost by that. One rule holds for all of them: a
// command replaces files of the kind that it writes, as it knows them by their first bytes, and
// empty ones. Others it replaces if --force says so. What the command reads, and a profile that
// somebody is recording, it never replaces.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culprit {

enum class OutputKind : uint8_t {
  profile,
  machine_file,
  pprof,
  callgrind,
  dot,
  report_json,
  report_csv,
  stat_json,
  html,
  plain,  // text that bears no mark, by which nobody's notes can be told from it
};

struct OutputRequest {
  std::string path;
  OutputKind kind = OutputKind::plain;
  bool force = false;
  std::vector<std::string> inputs = {};  // what the command reads; "-": standard input
};

/// The place of a new profile. An old profile moves to FILE.old, and back if nothing comes of the
/// new one.
class OutputFile {
 public:
  /// Errors: it may not be replaced, it is no regular file, its folder may not be written
  static Result<OutputFile> claim(const OutputRequest& request);
  void give_back() const;

 private:
  OutputFile(std::string path, bool moved_old) : path_(std::move(path)), moved_old_(moved_old) {}
  std::string path_;
  bool moved_old_;
};

/// Whether claim() would succeed now: for what is written at the end of long work.
Result<void> check_output(const OutputRequest& request);

/// A file of text or bytes; a device, a pipe or standard output ("" and "-"), too. It is opened,
/// and seen to be replaceable, before the work for it begins, and unchanged until the first write.
class OutputStream {
 public:
  /// Errors: as OutputFile
  static Result<OutputStream> open(const OutputRequest& request);
  OutputStream(OutputStream&&) noexcept = default;
  OutputStream& operator=(OutputStream&&) noexcept = default;
  /// A new file that nothing was written to goes again.
  ~OutputStream();

  /// Puts `text` behind what was written before, at once. What the file held goes with the first
  /// call, if the disk has room for `text`.
  Result<void> write(std::string_view text);
  [[nodiscard]] bool is_terminal() const;

 private:
  struct Close {
    void operator()(std::FILE* file) const;
  };
  OutputStream(std::string path, std::FILE* file, bool is_new)
      : path_(std::move(path)), file_(file), is_new_(is_new) {}

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  bool is_new_ = false;     // made by open()
  bool has_begun_ = false;  // write() was called
};

/// "212 kB"; "?" if it is not there.
std::string file_size_text(const std::string& path);

/// A file size limit (ulimit -f) must be a write error here, not the end of us. A handler, and
/// not SIG_IGN, which a program that is run would inherit.
void survive_file_size_limit();

}  // namespace culprit

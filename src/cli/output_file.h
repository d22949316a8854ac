#pragma once

// The file that a command makes a profile in.

#include <string>

#include "base/result.h"

namespace culprit {

/// The new profile's place. An old profile moves to FILE.old, and back if nothing
/// comes of the new one.
class OutputFile {
 public:
  static Result<OutputFile> claim(const std::string& path);
  void give_back() const;

 private:
  OutputFile(std::string path, bool moved_old) : path_(std::move(path)), moved_old_(moved_old) {}
  std::string path_;
  bool moved_old_;
};

/// "212 kB"; "?" if it is not there.
std::string file_size_text(const std::string& path);

/// A file size limit (ulimit -f) must be a write error here, not the end of us. A handler, and
/// not SIG_IGN, which a program that is run would inherit.
void survive_file_size_limit();

}  // namespace culprit

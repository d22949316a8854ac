#pragma once

#include <string>
#include <vector>

namespace culprit {

/// The file that execvp() would run: `name` itself if there is a slash in it, else the first that
/// can be executed in a folder of PATH; "" if there is none.
std::string find_program(const std::string& name);

/// Words of a command, followed by nullptr, as exec functions want them. They point into `words`.
std::vector<char*> make_exec_words(const std::vector<std::string>& words);

/// A command that is ready to be run in place of a process. It must not outlive its words.
///
/// execvp() gives the shell whatever the kernel does not know: a program for another machine is
/// then read as a script, which has done who knows what before the first mistake in it. Here the
/// shell gets no ELF file.
class ExecCommand {
 public:
  explicit ExecCommand(const std::vector<std::string>& words);
  ExecCommand(const ExecCommand&) = delete;
  ExecCommand& operator=(const ExecCommand&) = delete;

  /// Returns only when it fails, with the number of the error. Safe between fork and exec.
  [[nodiscard]] int exec(char* const* environment) const;

 private:
  std::string path_;
  std::vector<char*> words_;
  std::vector<char*> shell_words_;  // for a script without "#!"
};

}  // namespace culprit

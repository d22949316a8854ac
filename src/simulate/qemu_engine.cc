#include "simulate/qemu_engine.h"

#include <fmt/format.h>

#include "base/text.h"
#include "host/emulator.h"
#include "simulate/qemu/qemu_command.h"

namespace culprit {
namespace {

class QemuEngine : public SimulationEngine {
 public:
  QemuEngine(std::string plugin_path, std::string sysroot)
      : plugin_path_(std::move(plugin_path)), sysroot_(std::move(sysroot)) {}

  Result<EngineCommand> make_command(const std::vector<std::string>& command,
                                     const std::vector<std::string>& environment,
                                     const counting::CountingOptions& counting) const override {
    ASSIGN_OR_RETURN(QemuCommand made,
                     make_qemu_command(command, environment, {plugin_path_, sysroot_, counting}));
    return EngineCommand{std::move(made.architecture), std::move(made.words),
                         std::move(made.environment)};
  }

  /// Errors: this QEMU cannot load the plugin.
  Result<void> check(const EngineCommand& command) const override {
    const std::string& qemu = command.words.front();
    const Emulator emulator = ask_emulator(qemu, plugin_path_);
    if (emulator.problem.empty()) return {};
    return Error{
        fmt::format("{} ({}) {}\n{}", qemu, emulator.version, emulator.problem, emulator.remedy)};
  }

  std::string explain_end(const std::string& program, const std::string& messages,
                          bool has_avx512) const override {
    if (messages.find("Illegal instruction") != std::string::npos) {
      return fmt::format(
          "{} ended at an instruction that QEMU cannot run{}", printable(program),
          has_avx512 ? ": it is built for AVX-512; build it for x86-64-v3 (-march=x86-64-v3), or "
                       "without -march=native"
                     : "; natively it may run");
    }
    const bool is_of_signal = messages.find("uncaught target signal") != std::string::npos;
    return messages.empty() || is_of_signal ? "" : "QEMU says: " + printable(messages);
  }

 private:
  std::string plugin_path_;
  std::string sysroot_;
};

}  // namespace

std::unique_ptr<SimulationEngine> make_qemu_engine(std::string plugin_path, std::string sysroot) {
  return std::make_unique<QemuEngine>(std::move(plugin_path), std::move(sysroot));
}

}  // namespace culprit

#pragma once

// LoopScales: how many measured cycles a modelled one stands for, loop by loop. The model is not
// equally good everywhere: it has less of a loop whose data others keep out of a shared cache.
//
//     waits that the model has of a data object in a loop x scale of the loop = measured cycles

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "locality/loops.h"
#include "locality/use.h"
#include "model/profile.h"

namespace culprit {

/// Beyond so many times the model does not know what takes the time.
inline constexpr double kFarFromModel = 4;

class LoopScales {
 public:
  /// `code` must outlive it.
  LoopScales(const Profile& profile, CodeIndex& code);

  [[nodiscard]] CodeLoops& loops() { return loops_; }
  /// Whether there was a measured run beside the simulated one.
  [[nodiscard]] bool are_known() const { return measured_cycles_ > 0; }
  /// Of all that was sampled, the kernel's included. [cycles]
  [[nodiscard]] double measured_cycles() const { return measured_cycles_; }
  /// Measured cycles for a modelled one. A loop with too few samples has the scale of what is left
  /// of its function, or of everything, as far as its own few do not speak against it. What was
  /// modelled, times its scale, adds up to what was measured of code that was modelled. 1 where no
  /// run was measured.
  /// Errors: by fifty samples within 28 % [95 %]; of fewer as kScaleShape has it
  [[nodiscard]] double of(uint32_t loop) const;
  /// Costs of modelled cycles become measured ones; it must outlive what is added up with them.
  void share_out(UseEvents& events);

 private:
  struct Cycles {
    double measured = 0;
    double modelled = 0;
    uint64_t samples = 0;
    [[nodiscard]] bool tell() const;  // enough of them for a scale of their own
    [[nodiscard]] double scale() const { return measured / modelled; }
    Cycles& operator+=(const Cycles& other);
  };
  /// Loops that do not tell by themselves, and all that is left of a function, or of everything.
  struct Pool {
    Cycles all;
    std::vector<std::pair<uint32_t, Cycles>> loops;
  };
  void scale_pool(const Pool& pool);

  CodeLoops loops_;
  double measured_cycles_ = 0;
  std::vector<std::optional<double>> by_loop_;
  double rest_ = 1;  // of loops that were neither measured nor modelled
};

}  // namespace culprit

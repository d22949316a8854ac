#pragma once

namespace culprit {

/// What a repair saves, of the cycles measured where there are some, else of the modelled ones
/// [0 to 1].
struct GainForecast {
  double expected = 0;
  double low = 0;  // by how far model and measurement differ there, and the model's usual error
  double high = 0;
};

/// A repair that saves a smaller part of the time is none.
inline constexpr double kLeastForecast = 0.02;

}  // namespace culprit

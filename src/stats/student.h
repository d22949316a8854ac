#pragma once

// Student's t distribution: how far a mean of few values strays from the true one.

namespace culprit {

/// How likely chance alone moves Student's t as far from 0 as `t`, to either side.
/// Units:  degrees of freedom, above 0, need not be whole -> [0 to 1]
/// Errors: below 1e-10 up to 1,000 degrees, 1e-8 above
/// Source: Abramowitz and Stegun, 26.7.1 and 26.5.8 (the incomplete beta function as a continued
///         fraction, evaluated by W. J. Lentz, Applied Optics 15 (1976))
double student_tail(double t, double degrees_of_freedom);

/// The 97.5 % quantile: +-t holds 95 %.
/// Units:  degrees of freedom, need not be whole -> [1]; infinite for 0
/// Errors: those of student_tail()
double student_quantile95(double degrees_of_freedom);

/// Degrees of freedom of a variance that is a sum of squares, by how evenly these are large: n - 1
/// of n equal ones, 1 (the least) where one or two are all of it.
/// Units:  the terms' sum and the sum of their squares, both above 0 -> [1 to n - 1]
/// Source: F. E. Satterthwaite, Biometrics Bulletin 2(6), 1946: an approximate distribution of
///         estimates of variance components, here of one degree each; less one, for the mean
double degrees_of_sum(double sum, double sum_of_squares);

}  // namespace culprit

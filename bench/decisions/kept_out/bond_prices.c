// pair: bond_prices
// branch: microcode_exceptions
// place: price_bond|expl|__expl|__GI___expl|__ieee754_expl|__expl_finite
// repair: discounts are computed by exp of a double, not by expl, which is x87 microcode
//
// Prices bonds from a curve of rates. "To be safe" the discounts were computed with long double:
// f2xm1, frndint and fscale of the old coprocessor are microcode of many operations.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { kYears = 30, kBonds = 6000, kDays = 24 };

typedef struct {
  double coupon, face;
  int years;
} Bond;

static uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

static NOINLINE void issue_bonds(Bond* bonds) {
  uint32_t seed = 1914;
  for (int i = 0; i < kBonds; ++i) {
    bonds[i].coupon = 1.0 + next_random(&seed) % 64 / 16.0;
    bonds[i].face = 100.0;
    bonds[i].years = 10 + (int)(next_random(&seed) % (kYears - 10));
  }
}

static NOINLINE void fit_curve(double* rates, int day) {
  for (int year = 0; year < kYears; ++year) rates[year] = 0.01 + 0.001 * (day % 9) + 0.0007 * year;
  for (int round = 0; round < 16000; ++round)
    for (int year = 1; year + 1 < kYears; ++year)
      rates[year] = 0.5 * rates[year] + 0.25 * (rates[year - 1] + rates[year + 1]) + 1e-9 * year;
}

static inline double discount(double rate, double years) {
#ifdef AFTER
  return exp(-rate * years);
#else
  return (double)expl(-(long double)rate * years);
#endif
}

static NOINLINE double price_bond(const Bond* bond, const double* rates, double spread) {
  double price = 0;
  for (int year = 1; year <= bond->years; ++year)
    price += bond->coupon * discount(rates[year - 1] + spread, year);
  return price + bond->face * discount(rates[bond->years - 1] + spread, bond->years);
}

// How the prices of a day are spread: each against a step of 500 others.
static NOINLINE uint64_t rank_prices(const double* prices) {
  uint64_t ranks = 0;
  for (int i = 0; i < kBonds; ++i) {
    int above = 0;
    for (int k = 0; k < kBonds; k += 50) above += prices[k] > prices[i] + 1e-6;
    ranks = ranks * 31 + (uint64_t)above;
  }
  return ranks;
}

int main(void) {
  static Bond bonds[kBonds];
  static double prices[kBonds];
  double rates[kYears], total = 0;
  uint64_t ranks = 0;
  issue_bonds(bonds);
  for (int day = 0; day < kDays; ++day) {
    fit_curve(rates, day);
    for (int i = 0; i < kBonds; ++i) {
      prices[i] = price_bond(&bonds[i], rates, i % 100 * 0.00013);
      total += prices[i];
    }
    ranks = ranks * 31 + rank_prices(prices);
  }
  printf("%.3f %llu\n", total, (unsigned long long)ranks);
  return 0;
}

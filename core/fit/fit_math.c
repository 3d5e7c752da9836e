/*
 * fit_math.c - exp and log whose last bit is ours.
 *
 * Plain double additions, multiplications and divisions in a fixed order, each
 * correctly rounded on every machine the program runs on: the same bits
 * everywhere, whatever C library is installed.
 */
#include <math.h>
#include <string.h>

#include "core/fit/fit_int.h"

/* ln 2 in two parts: the first has 21 trailing zero bits, so that n * LN2_HI is exact. */
static const double LN2_HI = 0x1.62e42feep-1;
static const double LN2_LO = 0x1.a39ef35793c76p-33;

/* 1 / k! for the exponential of |r| <= ln 2 / 2; the first term left out is below 2^-57. */
static const double EXP_TERMS[] = {
  1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0,
  1.0 / 5040.0,       1.0 / 720.0,       1.0 / 120.0,      1.0 / 24.0,      1.0 / 6.0,      1.0 / 2.0,
};

static double power_of_two(int n)
{
  uint64_t bits = (uint64_t)(n + 1023) << 52;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

double em_fit_exp(double x)
{
  if (x > 700) x = 700;
  if (x < -700) x = -700;
  int n = (int)(x * EM_FIT_LOG2_E + (x < 0 ? -0.5 : 0.5));
  double r = (x - n * LN2_HI) - n * LN2_LO;
  double q = EXP_TERMS[0];
  for (size_t i = 1; i < sizeof EXP_TERMS / sizeof *EXP_TERMS; i++) q = q * r + EXP_TERMS[i];
  return (1.0 + (r + r * r * q)) * power_of_two(n);
}

/* ln x = n ln 2 + 2 atanh(s), s = (m - 1) / (m + 1), m in [sqrt(1/2), sqrt 2): |s| < 0.1716. */
double em_fit_log(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int n = (int)(bits >> 52) - 1023;
  bits = (bits & 0xfffffffffffffULL) | (uint64_t)1023 << 52;
  double m;
  memcpy(&m, &bits, sizeof m);
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    n++;
  }
  double s = (m - 1.0) / (m + 1.0), z = s * s, q = 0;
  for (int k = 23; k >= 3; k -= 2) q = (q + 1.0 / k) * z;
  return n * LN2_HI + (2.0 * (s + s * q) + n * LN2_LO);
}

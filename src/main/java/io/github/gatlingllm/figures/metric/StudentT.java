package io.github.gatlingllm.figures.metric;

/**
 * Student's t distribution, the distribution of the mean of a few independent values in units of
 * its standard error.
 */
public final class StudentT {

  private static final int MAX_TERMS = 500;

  private StudentT() {}

  /**
   * The two-sided probability of a value farther from 0 than {@code t}: the regularized incomplete
   * beta function I of (df ÷ 2, ½) at df ÷ (df + t²).
   *
   * @see <a href="https://dlmf.nist.gov/8.17">DLMF 8.17</a>
   */
  public static double beyond(double t, double df) {
    double x = df / (df + t * t);
    double a = df / 2;
    double b = 0.5;
    double front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - logBeta(a, b));
    return x < (a + 1) / (a + b + 2)
        ? front * fraction(x, a, b) / a
        : 1 - front * fraction(1 - x, b, a) / b;
  }

  /** The t that is exceeded with that two-sided probability. */
  public static double quantile(double beyond, double df) {
    double low = 0;
    double high = 1;
    while (beyond(high, df) > beyond && high < 1e6) {
      high *= 2;
    }
    for (int i = 0; i < 100; i++) {
      double middle = (low + high) / 2;
      if (beyond(middle, df) > beyond) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return high;
  }

  /** The continued fraction of DLMF 8.17.22, evaluated from its front by Lentz's method. */
  private static double fraction(double x, double a, double b) {
    double tiny = 1e-300;
    double c = 1;
    double d = 1 / nonZero(1 - (a + b) * x / (a + 1), tiny);
    double value = d;
    for (int m = 1; m <= MAX_TERMS; m++) {
      double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 / nonZero(1 + even * d, tiny);
      c = nonZero(1 + even / c, tiny);
      value *= d * c;
      double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 / nonZero(1 + odd * d, tiny);
      c = nonZero(1 + odd / c, tiny);
      value *= d * c;
      if (Math.abs(d * c - 1) < 1e-14) {
        break;
      }
    }
    return value;
  }

  private static double nonZero(double value, double tiny) {
    return Math.abs(value) < tiny ? tiny : value;
  }

  private static double logBeta(double a, double b) {
    return logGamma(a) + logGamma(b) - logGamma(a + b);
  }

  /** Stirling's series (DLMF 5.11.1), after the recurrence has raised the argument above 10. */
  private static double logGamma(double x) {
    double shift = 0;
    double at = x;
    while (at < 10) {
      shift -= Math.log(at);
      at++;
    }
    double inverse = 1 / (at * at);
    double series = (1 / 12.0 - inverse * (1 / 360.0 - inverse * (1 / 1260.0))) / at;
    return shift + (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + series;
  }
}

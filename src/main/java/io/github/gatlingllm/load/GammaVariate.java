package io.github.gatlingllm.load;

import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;

/**
 * Draws gamma-distributed numbers with mean 1, by Marsaglia and Tsang, "A simple method for
 * generating gamma variables", ACM TOMS 26 (2000). Uses {@link StrictMath} and its own normal
 * variates, so that the schedule of a seed is the same on every JDK.
 */
final class GammaVariate implements DoubleSupplier {
  private final SplittableRandom random;
  private final double shape;
  private final double d;
  private final double c;

  GammaVariate(double shape, SplittableRandom random) {
    this.shape = shape;
    this.random = random;
    this.d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
    this.c = 1 / Math.sqrt(9 * d);
  }

  /**
   * The forward recurrence time of a gap of mean 1, the time from an arbitrary instant to the next
   * arrival, with density (1 − F(x)) ÷ mean (Cox, "Renewal Theory", 1962): a uniform share of the
   * gap around the instant, whose length is distributed as X(a + 1).
   */
  static double residual(double shape, SplittableRandom random) {
    double share = 1 - random.nextDouble();
    return share * new GammaVariate(shape + 1, random).atLeastOne() / shape;
  }

  @Override
  public double getAsDouble() {
    // The method needs a shape of 1 or more; X(a) = X(a + 1) · U^(1/a) extends it to smaller ones.
    double boost = shape < 1 ? StrictMath.pow(1 - random.nextDouble(), 1 / shape) : 1;
    return boost * atLeastOne() / shape;
  }

  private double atLeastOne() {
    while (true) {
      double x = normal();
      double root = 1 + c * x;
      double v = root * root * root;
      double u = 1 - random.nextDouble();
      if (v > 0 && StrictMath.log(u) < 0.5 * x * x + d - d * v + d * StrictMath.log(v)) {
        return d * v;
      }
    }
  }

  /** Marsaglia's polar method; the second variate of each pair is discarded. */
  private double normal() {
    while (true) {
      double x = 2 * random.nextDouble() - 1;
      double y = 2 * random.nextDouble() - 1;
      double s = x * x + y * y;
      if (s > 0 && s < 1) {
        return x * Math.sqrt(-2 * StrictMath.log(s) / s);
      }
    }
  }
}

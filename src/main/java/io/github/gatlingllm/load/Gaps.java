package io.github.gatlingllm.load;

import java.io.Serializable;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;

/** The gaps between arrivals where one arrives per unit of time: their mean is 1. */
public sealed interface Gaps extends Serializable {

  /**
   * Draws gap after gap, the first from the start to the first arrival; the same ones each time.
   */
  DoubleSupplier draws();

  /** All the same; the first arrival is at the start. */
  record Equal() implements Gaps {
    @Override
    public DoubleSupplier draws() {
      return new DoubleSupplier() {
        private double gap;

        @Override
        public double getAsDouble() {
          double next = gap;
          gap = 1;
          return next;
        }
      };
    }
  }

  /**
   * Independent and exponentially distributed, as those of a Poisson process.
   *
   * @param seed the same seed draws the same gaps
   */
  record Exponential(long seed) implements Gaps {
    @Override
    public DoubleSupplier draws() {
      SplittableRandom random = new SplittableRandom(seed);
      return () -> -Math.log1p(-random.nextDouble());
    }
  }

  /**
   * Independent and gamma-distributed with shape 1 / cv²: burstier than Poisson traffic where
   * {@code cv} is above 1, evener where it is below. With a cv of 1 it is {@link Exponential}, to
   * the bit.
   *
   * @param cv coefficient of variation, standard deviation ÷ mean: above 0, at most 100
   * @param seed the same seed draws the same gaps
   */
  record Gamma(double cv, long seed) implements Gaps {
    public Gamma {
      requireCv(cv);
    }

    @Override
    public DoubleSupplier draws() {
      return cv == 1
          ? new Exponential(seed).draws()
          : new GammaVariate(1 / (cv * cv), new SplittableRandom(seed));
    }
  }

  /**
   * A coefficient of variation that can be drawn.
   *
   * @throws IllegalArgumentException unless it is above 0 and at most 100
   */
  static double requireCv(double cv) {
    if (cv > 0 && cv <= 100) {
      return cv;
    }
    throw new IllegalArgumentException(
        "cv(" + cv + ") is no spread of gaps; expected above 0, at most 100; 1 is Poisson");
  }
}

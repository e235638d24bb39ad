package io.github.gatlingllm.action;

import io.gatling.core.controller.inject.open.OpenInjectionStep;
import io.github.gatlingllm.load.Arrivals;
import io.github.gatlingllm.load.Arrivals.Planned;
import java.lang.reflect.Constructor;
import java.math.BigDecimal;
import java.util.PrimitiveIterator;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import scala.collection.Iterator;
import scala.concurrent.duration.FiniteDuration;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An arrival process as one of Gatling's open injection steps, beside Gatling's own ones in {@code
 * injectOpen}.
 */
public final class ArrivalStep implements OpenInjectionStep {
  private static final long serialVersionUID = 1L;

  private final Arrivals arrivals;
  private final long durationNanos;
  private final long users;

  private ArrivalStep(Arrivals arrivals, long durationNanos) {
    this.arrivals = arrivals;
    this.durationNanos = durationNanos;
    this.users = arrivals.countBefore(durationNanos);
  }

  /** The step that a Java simulation passes to {@code injectOpen}. */
  public static io.gatling.javaapi.core.OpenInjectionStep of(
      Arrivals arrivals, long durationNanos) {
    // Gatling's Java class is final in all but name: its one constructor is private.
    try {
      Constructor<io.gatling.javaapi.core.OpenInjectionStep> constructor =
          io.gatling.javaapi.core.OpenInjectionStep.class.getDeclaredConstructor(
              OpenInjectionStep.class);
      constructor.setAccessible(true);
      return constructor.newInstance(new ArrivalStep(arrivals, durationNanos));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "This Gatling has no constructor OpenInjectionStep(scala step); use Gatling 3.14 or 3.15",
          e);
    }
  }

  /** The arrivals, with what is known of each. */
  java.util.Iterator<Planned> planned() {
    return arrivals.plannedBefore(durationNanos);
  }

  /** Users per second; null where their rate changes by plan. */
  @Nullable Double constantRate() {
    return arrivals instanceof Arrivals.Steady steady ? (Double) steady.perSecond() : null;
  }

  @Override
  public Iterator<FiniteDuration> chain(Iterator<FiniteDuration> chained) {
    PrimitiveIterator.OfLong offsets = arrivals.offsetsBefore(durationNanos);
    Iterator<FiniteDuration> own =
        CollectionConverters.asScala(
            new java.util.Iterator<FiniteDuration>() {
              @Override
              public boolean hasNext() {
                return offsets.hasNext();
              }

              @Override
              public FiniteDuration next() {
                return new FiniteDuration(offsets.nextLong(), TimeUnit.NANOSECONDS);
              }
            });
    FiniteDuration duration = duration();
    return own.concat(() -> chained.map(later -> later.$plus(duration)));
  }

  @Override
  public long users() {
    return users;
  }

  @Override
  public FiniteDuration duration() {
    return new FiniteDuration(durationNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public int productArity() {
    return 2;
  }

  @Override
  public Object productElement(int n) {
    return switch (n) {
      case 0 -> arrivals;
      case 1 -> duration();
      default -> throw new IndexOutOfBoundsException(n);
    };
  }

  @Override
  public boolean canEqual(Object that) {
    return that instanceof ArrivalStep;
  }

  @Override
  public String toString() {
    return arrivals + " during " + seconds() + " s";
  }

  private String seconds() {
    return BigDecimal.valueOf(duration().toNanos(), 9).stripTrailingZeros().toPlainString();
  }
}

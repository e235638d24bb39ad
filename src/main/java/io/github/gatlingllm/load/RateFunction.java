package io.github.gatlingllm.load;

import java.io.Serializable;

/** Users per second as a function of the time since the start. */
@FunctionalInterface
public interface RateFunction extends Serializable {

  /** Users per second, 0 or more, at so many nanoseconds since the start. */
  double perSecondAt(long nanos);
}

package io.github.gatlingllm.load;

import io.github.gatlingllm.load.Arrivals.Planned;
import io.github.gatlingllm.record.InjectorShare;
import java.util.Iterator;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * What the arrivals of a load level are numbered by. Numbers go on from level to level, so that no
 * two arrivals of a plan have the same; they follow from the plan alone, so that all injectors of a
 * load test agree on them. What an arrival asks follows from its number.
 *
 * @param first that of the level's first arrival
 * @param all how many numbers the whole plan has, at least
 * @param share which of the arrivals are this injector's
 */
public record ArrivalNumbers(long first, long all, InjectorShare share) {

  /** The arrivals of this injector. */
  Iterator<Planned> own(Iterator<Planned> whole) {
    return share.isPart()
        ? stream(whole).filter(arrival -> share.has(of(arrival))).iterator()
        : whole;
  }

  /** The number of an arrival. */
  long of(Planned arrival) {
    return first + arrival.index();
  }

  /**
   * What the user of an arrival draws, for the {@code k}-th time from 0, by: first all users once,
   * then all a second time.
   */
  long of(Planned arrival, int k) {
    return of(arrival) + k * all;
  }

  static <T> Stream<T> stream(Iterator<T> each) {
    return StreamSupport.stream(
        Spliterators.spliteratorUnknownSize(each, Spliterator.ORDERED), false);
  }
}

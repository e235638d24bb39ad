package io.github.gatlingllm.load;

import io.github.gatlingllm.record.InjectorShare;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Whose turn it is to draw from something that is drawn from in order, such as prompts. A user that
 * arrives by a plan draws by the number of its arrival, whoever is ahead of it by a few
 * microseconds; all others draw in the order in which they come. Several injectors never take the
 * same turn. Safe for use by several threads.
 */
public final class Turns {

  private final InjectorShare share;
  private final AtomicLong taken = new AtomicLong();

  /**
   * @param share of all turns
   */
  public Turns(InjectorShare share) {
    this.share = share;
  }

  /**
   * The next turn, from 0.
   *
   * @param arrival of the user; null where it did not arrive by a plan. Called on its event loop
   */
  public long next(@Nullable Arrival arrival) {
    Long number = arrival == null ? null : arrival.draw(this);
    return number == null ? next() : number;
  }

  /** The next turn of those that are taken in the order in which users come. */
  public long next() {
    return share.numberOf(taken.getAndIncrement());
  }
}

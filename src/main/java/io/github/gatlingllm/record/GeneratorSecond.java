package io.github.gatlingllm.record;

import org.jspecify.annotations.Nullable;

/**
 * How the load generator itself fared in one interval of about a second: a value, or none, for each
 * {@link GeneratorField}. Not thread-safe.
 */
public final class GeneratorSecond {

  private final @Nullable Object[] values = new @Nullable Object[GeneratorField.ALL.size()];

  /** Notes a value; null for one that the system does not tell. */
  public <T> GeneratorSecond with(GeneratorField<T> field, @Nullable T value) {
    values[field.index()] = value;
    return this;
  }

  /** The value of a field; null where there is none. */
  @SuppressWarnings("unchecked") // a value has the type of its field
  public <T> @Nullable T get(GeneratorField<T> field) {
    return (T) values[field.index()];
  }

  /** A number; 0 where there is none. */
  public long number(GeneratorField<Long> field) {
    Long value = get(field);
    return value == null ? 0 : value;
  }

  /** The largest of some numbers; 0 where there are none. */
  public int largest(GeneratorField<int[]> field) {
    int[] all = get(field);
    int largest = 0;
    for (int value : all == null ? new int[0] : all) {
      largest = Math.max(largest, value);
    }
    return largest;
  }
}

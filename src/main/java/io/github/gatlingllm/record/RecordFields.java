package io.github.gatlingllm.record;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What takes the keys and values of a record one after the other: a line of JSON, a row of CSV. */
interface RecordFields {

  /** Names the value that comes next. */
  RecordFields key(String key);

  void text(@Nullable String value);

  /** JSON that is already JSON. */
  void json(String value);

  void texts(List<String> values);

  void flag(@Nullable Boolean value);

  void integer(@Nullable Integer value);

  void integer(long value);

  /** One number per event. */
  void integers(int[] values);

  /** Nanoseconds, written as seconds with nine decimals. */
  void seconds(@Nullable Long nanos);

  /** As {@link #seconds(Long)}. */
  void seconds(long nanos);

  /** Numbers by names that the server chose. */
  void numbers(Map<String, Double> values);
}

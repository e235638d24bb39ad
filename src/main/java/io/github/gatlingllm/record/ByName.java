package io.github.gatlingllm.record;

import java.lang.reflect.Array;
import java.lang.reflect.RecordComponent;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes records of many components, of which few are named; by reflection, so not for each request.
 */
final class ByName {

  private ByName() {}

  /**
   * A record of these values.
   *
   * @param namesAndValues in turn; a component that is not named is null, 0 or false
   */
  static <R extends Record> R make(Class<R> type, @Nullable Object... namesAndValues) {
    return make(type, null, namesAndValues);
  }

  /** The same record with these values in place of its own. */
  @SuppressWarnings("unchecked") // the class of the record itself
  static <R extends Record> R with(R record, @Nullable Object... namesAndValues) {
    return make((Class<R>) record.getClass(), record, namesAndValues);
  }

  private static <R extends Record> R make(
      Class<R> type, @Nullable R others, @Nullable Object... namesAndValues) {
    Map<String, @Nullable Object> named = new HashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      named.put(String.valueOf(namesAndValues[i]), namesAndValues[i + 1]);
    }
    RecordComponent[] components = type.getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    @Nullable Object[] values = new @Nullable Object[components.length];
    try {
      for (int i = 0; i < components.length; i++) {
        String name = components[i].getName();
        types[i] = components[i].getType();
        values[i] = others == null ? absent(types[i]) : components[i].getAccessor().invoke(others);
        values[i] = named.containsKey(name) ? named.remove(name) : values[i];
      }
      if (!named.isEmpty()) {
        throw new IllegalArgumentException(type + " has no " + named.keySet());
      }
      return type.getDeclaredConstructor(types).newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException(type + " cannot be made of these values", e);
    }
  }

  /** What a component of that type has where nothing is said. */
  private static @Nullable Object absent(Class<?> type) {
    return Array.get(Array.newInstance(type, 1), 0);
  }
}

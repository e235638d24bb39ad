package io.github.gatlingllm.record;

import java.lang.reflect.Array;
import java.lang.reflect.RecordComponent;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Creates and copies records of many components by the names of a few of them. Uses reflection: not
 * for the records of requests.
 */
final class ByName {

  private ByName() {}

  /**
   * Creates a record.
   *
   * @param namesAndValues names and values alternately; all other components are null, 0 or false
   */
  static <R extends Record> R make(Class<R> type, @Nullable Object... namesAndValues) {
    return make(type, null, namesAndValues);
  }

  /** Copies a record with other values of the named components. */
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

  /** Null, 0 or false. */
  private static @Nullable Object absent(Class<?> type) {
    return Array.get(Array.newInstance(type, 1), 0);
  }
}

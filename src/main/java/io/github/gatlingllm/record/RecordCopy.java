package io.github.gatlingllm.record;

import java.lang.reflect.RecordComponent;
import org.jspecify.annotations.Nullable;

/**
 * Copies a Java record with another value of one component, so that no class lists all components
 * of a long record a second time. It reads them by reflection, about a microsecond per copy: for
 * what is done once per run or per moved record, not once per token.
 */
final class RecordCopy {

  private RecordCopy() {}

  /**
   * The same record with that value.
   *
   * @throws IllegalArgumentException if the record has no such component, or one of another type
   */
  static <R extends Record> R with(R original, String component, @Nullable Object value) {
    RecordComponent[] components = original.getClass().getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    @Nullable Object[] values = new @Nullable Object[components.length];
    boolean found = false;
    try {
      for (int i = 0; i < components.length; i++) {
        boolean replaced = components[i].getName().equals(component);
        found |= replaced;
        types[i] = components[i].getType();
        values[i] = replaced ? value : components[i].getAccessor().invoke(original);
      }
      if (!found) {
        throw new IllegalArgumentException(
            original.getClass().getSimpleName() + " has no component '" + component + "'");
      }
      @SuppressWarnings("unchecked") // a record's class is final
      R copy = (R) original.getClass().getDeclaredConstructor(types).newInstance(values);
      return copy;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(original.getClass() + " cannot be copied", e);
    }
  }
}

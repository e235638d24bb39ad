package io.github.gatlingllm.record;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import org.jspecify.annotations.Nullable;

/** Copies of Java records that differ in some components. */
public final class Components {

  private Components() {}

  /** A copy with other values of components: their names, each followed by its value. */
  public static <R extends Record> R with(R record, @Nullable Object... changes) {
    RecordComponent[] all = record.getClass().getRecordComponents();
    Class<?>[] types = new Class<?>[all.length];
    @Nullable Object[] values = new @Nullable Object[all.length];
    int changed = 0;
    try {
      for (int i = 0; i < all.length; i++) {
        types[i] = all[i].getType();
        values[i] = all[i].getAccessor().invoke(record);
        for (int name = 0; name < changes.length; name += 2) {
          if (all[i].getName().equals(changes[name])) {
            values[i] = changes[name + 1];
            changed++;
          }
        }
      }
      if (2 * changed != changes.length) {
        throw new IllegalArgumentException(record.getClass() + " has no such component");
      }
      @SuppressWarnings("unchecked") // of the same type
      R copy = (R) record.getClass().getDeclaredConstructor(types).newInstance(values);
      return copy;
    } catch (InvocationTargetException e) {
      throw e.getCause() instanceof RuntimeException invalid
          ? invalid
          : new IllegalStateException(e);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(record.getClass().getName(), e);
    }
  }
}

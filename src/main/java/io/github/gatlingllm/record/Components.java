package io.github.gatlingllm.record;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The components of a type of Java records: makes records of values, and copies that differ. */
final class Components {

  private static final ClassValue<Components> BY_TYPE =
      new ClassValue<>() {
        @Override
        protected Components computeValue(Class<?> type) {
          return new Components(type);
        }
      };

  private final List<RecordComponent> all;
  private final MethodHandle constructor;

  private Components(Class<?> type) {
    all = List.of(type.getRecordComponents());
    Class<?>[] types = all.stream().map(RecordComponent::getType).toArray(Class<?>[]::new);
    try {
      constructor =
          MethodHandles.lookup()
              .findConstructor(type, MethodType.methodType(void.class, types))
              .asSpreader(Object[].class, types.length)
              .asType(MethodType.methodType(Object.class, Object[].class));
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(type.getName(), e);
    }
  }

  static Components of(Class<?> type) {
    return BY_TYPE.get(type);
  }

  /** A record of these values, one per component. */
  Object make(@Nullable Object[] values) {
    try {
      return constructor.invokeExact(values);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new LinkageError("a record's constructor has no checked exception", e);
    }
  }

  /** A copy with another value of a component, which may be one of a record in the record. */
  @SuppressWarnings("unchecked") // of the same type
  static <R extends Record> R with(R record, String component, @Nullable Object value) {
    Object copy = of(record.getClass()).copy(record, component, value);
    if (copy == null) {
      throw new IllegalArgumentException(record.getClass() + " has no component " + component);
    }
    return (R) copy;
  }

  private @Nullable Object copy(Object record, String component, @Nullable Object value) {
    @Nullable Object[] values = new @Nullable Object[all.size()];
    for (int i = 0; i < values.length; i++) {
      if (all.get(i).getName().equals(component)) {
        return make(fill(values, record, i, value));
      }
    }
    fill(values, record, -1, null);
    for (int i = 0; i < values.length; i++) {
      if (values[i] instanceof Record part) {
        Object changed = of(part.getClass()).copy(part, component, value);
        if (changed != null) {
          values[i] = changed;
          return make(values);
        }
      }
    }
    return null;
  }

  private @Nullable Object[] fill(
      @Nullable Object[] values, Object record, int other, @Nullable Object value) {
    try {
      for (int i = 0; i < values.length; i++) {
        values[i] = i == other ? value : all.get(i).getAccessor().invoke(record);
      }
      return values;
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(record.getClass().getName(), e);
    }
  }
}

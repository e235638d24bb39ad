package io.github.gatlingllm.record;

import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.SerializedLambda;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
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

  /** The index of its component by the class of a method reference. */
  private static final Map<Class<?>, Integer> INDICES = new ConcurrentHashMap<>();

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

  /** The accessor of a component, {@code RunInfo::seed}: the compiler knows it and its type. */
  interface Component<R extends Record, T extends @Nullable Object> extends Serializable {
    T of(R record);
  }

  /** A copy with another value of a component. */
  @SuppressWarnings("unchecked") // of the same type
  static <R extends Record, T extends @Nullable Object> R with(
      R record, Component<R, T> component, T value) {
    Components type = of(record.getClass());
    @Nullable Object[] values = type.values(record);
    values[INDICES.computeIfAbsent(component.getClass(), of -> type.index(component))] = value;
    return (R) type.make(values);
  }

  /** What a serialized reference to a method states of it. */
  private int index(Component<?, ?> component) {
    try {
      Method replaced = component.getClass().getDeclaredMethod("writeReplace");
      replaced.setAccessible(true);
      String name = ((SerializedLambda) replaced.invoke(component)).getImplMethodName();
      int index = all.stream().map(RecordComponent::getName).toList().indexOf(name);
      if (index < 0) {
        throw new IllegalArgumentException(name + " is not the accessor of a component");
      }
      return index;
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("not a reference to an accessor", e);
    }
  }

  private @Nullable Object[] values(Record record) {
    @Nullable Object[] values = new @Nullable Object[all.size()];
    try {
      for (int i = 0; i < values.length; i++) {
        values[i] = all.get(i).getAccessor().invoke(record);
      }
      return values;
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(record.getClass().getName(), e);
    }
  }
}

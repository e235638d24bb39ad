package io.github.gatlingllm.action;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * The fields of an immutable builder. {@link #with} changes a copy before it is published; lists
 * and maps are replaced, never modified.
 */
public abstract class Draft<D extends Draft<D>> implements Cloneable {

  private static final Pattern HEADER_NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

  @SuppressWarnings("unchecked") // a copy is of the same class
  public final D with(Consumer<D> change) {
    try {
      D copy = (D) clone();
      change.accept(copy);
      return copy;
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  public static <T> List<T> and(List<T> list, T element) {
    List<T> more = new ArrayList<>(list);
    more.add(element);
    return Collections.unmodifiableList(more);
  }

  /** The headers with one more, which replaces a header of the same name in any case. */
  public static <V> Map<String, V> andHeader(Map<String, V> headers, String name, V value) {
    if (!HEADER_NAME.matcher(name).matches()) {
      throw InvalidSimulation.because(
          "header(\"" + name + "\", …): expected a header name, e.g. X-Tenant");
    }
    Map<String, V> others = new LinkedHashMap<>(headers);
    others.keySet().removeIf(name::equalsIgnoreCase);
    return and(others, name, value);
  }

  public static <V> Map<String, V> and(Map<String, V> map, String key, V value) {
    Map<String, V> more = new LinkedHashMap<>(map);
    more.put(key, value);
    return Collections.unmodifiableMap(more);
  }
}

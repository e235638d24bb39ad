package io.github.gatlingllm.action;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * The parts of an immutable builder. A copy is changed once, before anybody else sees it; its lists
 * and maps are replaced, never written to.
 *
 * @param <D> the class of the parts
 */
public abstract class Draft<D extends Draft<D>> implements Cloneable {

  private static final Pattern HEADER_NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

  /** A copy with that change; this one stays as it is. */
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

  /** The list with one more element. */
  public static <T> List<T> and(List<T> list, T element) {
    List<T> more = new ArrayList<>(list);
    more.add(element);
    return Collections.unmodifiableList(more);
  }

  /**
   * The headers with that one, in place of one of the same name in whatever case.
   *
   * @throws InvalidSimulation if there is no header of such a name
   */
  public static <V> Map<String, V> andHeader(Map<String, V> headers, String name, V value) {
    if (!HEADER_NAME.matcher(name).matches()) {
      throw InvalidSimulation.because(
          "header(\"" + name + "\", …): expected a header name, e.g. X-Tenant");
    }
    Map<String, V> more = new LinkedHashMap<>(headers);
    more.keySet().removeIf(name::equalsIgnoreCase);
    more.put(name, value);
    return Collections.unmodifiableMap(more);
  }

  /** The map with that entry, in the order of entering. */
  public static <V> Map<String, V> and(Map<String, V> map, String key, V value) {
    Map<String, V> more = new LinkedHashMap<>(map);
    more.put(key, value);
    return Collections.unmodifiableMap(more);
  }
}

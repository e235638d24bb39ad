package io.github.gatlingllm.action;

import io.gatling.commons.validation.Failure;
import io.gatling.commons.validation.Success;
import io.gatling.commons.validation.Validation;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.internal.Expressions;
import io.github.gatlingllm.settings.Settings;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import scala.Function1;

/**
 * A value that may differ by virtual user: a constant, a Gatling EL String, or a function of the
 * session. It can be created without a running Gatling, so that the parts of a simulation can be
 * built in a unit test.
 */
public final class Dynamic<T> {

  private static final String PARSER_REASON = "with error '";

  private static final int LONGEST_SHOWN = 60;

  private final Function<io.gatling.core.session.Session, Validation<T>> expression;
  private final @Nullable T constant;
  private final @Nullable String text;

  private Dynamic(
      Function<io.gatling.core.session.Session, Validation<T>> expression,
      @Nullable T constant,
      @Nullable String text) {
    this.expression = expression;
    this.constant = constant;
    this.text = text;
  }

  public static <T> Dynamic<T> of(T constant) {
    Validation<T> success = new Success<>(constant);
    return new Dynamic<>(session -> success, constant, constant.toString());
  }

  /** Computed by a function; a result of null, or an exception, is a failure. */
  public static <T> Dynamic<T> of(Function<Session, T> function) {
    return of(function, null);
  }

  /** As {@link #of(Function)}, with words for what it gives. */
  public static <T> Dynamic<T> of(Function<Session, T> function, @Nullable String text) {
    return new Dynamic<>(
        session -> {
          try {
            T value = function.apply(new Session(session));
            return value == null
                ? failure("the function gave null; expected a value")
                : new Success<>(value);
          } catch (RuntimeException e) {
            return failure(e.getClass().getSimpleName() + ": " + e.getMessage());
          }
        },
        null,
        text);
  }

  /**
   * A Gatling EL String, or the text of a value. For a number the attribute may be a number of any
   * class, or its text, as feeders and checks do not know the class that a request needs.
   */
  public static <T> Dynamic<T> el(String el, Class<T> type) {
    return el(el, type, shown(el));
  }

  private static <T> Dynamic<T> el(String el, Class<T> type, String shown) {
    Dynamic<T> dynamic;
    if (Number.class.isAssignableFrom(type)) {
      Function1<io.gatling.core.session.Session, Validation<Object>> any =
          compiled(el, Object.class, shown);
      dynamic = new Dynamic<>(session -> number(el, value(any.apply(session)), type), null, el);
    } else {
      dynamic = new Dynamic<>(compiled(el, type, shown)::apply, null, el);
    }
    if (!el.contains("#{") && !dynamic.isConvertible(type)) {
      throw mistake(shown, expected(type));
    }
    return dynamic;
  }

  private static <T> Function1<io.gatling.core.session.Session, Validation<T>> compiled(
      String el, Class<T> type, String shown) {
    try {
      return Expressions.toExpression(el, type);
    } catch (Exception e) { // Gatling's parser throws a checked one that Scala does not declare
      String message = String.valueOf(e.getMessage());
      int reason = message.lastIndexOf(PARSER_REASON);
      throw mistake(
          shown,
          "not a Gatling EL String: "
              + (reason < 0
                  ? message
                  : message.substring(reason + PARSER_REASON.length(), message.length() - 1)));
    }
  }

  private static InvalidSimulation mistake(String shown, String what) {
    return InvalidSimulation.because(dslMethod() + "(" + shown + "): " + what);
  }

  private static String shown(String text) {
    String line = text.lines().findFirst().orElse("");
    boolean isShort = line.equals(text) && line.length() <= LONGEST_SHOWN;
    return '"'
        + (isShort ? line : line.substring(0, Math.min(line.length(), LONGEST_SHOWN)) + "…")
        + '"';
  }

  private static <T> Validation<T> number(String el, Object value, Class<T> type) {
    try {
      BigDecimal number = new BigDecimal(value.toString().strip());
      Number exact =
          type == Integer.class
              ? (Number) number.intValueExact()
              : type == Long.class ? (Number) number.longValueExact() : number.doubleValue();
      return new Success<>(type.cast(exact));
    } catch (ArithmeticException | NumberFormatException e) {
      return failure(
          el
              + " is '"
              + value
              + "', expected "
              + (type == Double.class ? "a number" : "an integer"));
    }
  }

  /** A text: a Gatling EL String if it has an expression, else a constant. */
  public static Dynamic<String> text(@Nullable String el) {
    return text(el, null);
  }

  /** As {@link #text}; no message shows it. */
  public static Dynamic<String> secret(@Nullable String el) {
    return text(el, "…");
  }

  private static Dynamic<String> text(@Nullable String el, @Nullable String shown) {
    if (el == null) {
      throw mistake(
          "null",
          "expected a text or a Gatling EL String; is the environment variable or"
              + " property set that it comes from?");
    }
    return el.contains("#{") || el.contains("$")
        ? el(el, String.class, shown == null ? shown(el) : shown)
        : of(el);
  }

  /** The DSL method that was called; builders delegate to {@code edit} and {@code with}. */
  private static String dslMethod() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames
                    .filter(f -> f.getClassName().contains(".gatlingllm.javaapi."))
                    .map(StackWalker.StackFrame::getMethodName)
                    .filter(name -> !name.startsWith("lambda$") && !name.matches("edit|with"))
                    .findFirst()
                    .orElse("text"));
  }

  public T resolve(io.gatling.core.session.Session session) {
    return constant == null ? value(expression.apply(session)) : constant;
  }

  /** The constant; null for an EL String or a function. */
  public @Nullable T constant() {
    return constant;
  }

  /** The text in the simulation, for messages; null for a function of the user. */
  @Nullable String text() {
    return text;
  }

  /** Whether a text without expressions is a value of that type, as Gatling converts it. */
  private boolean isConvertible(Class<?> type) {
    boolean isText = type == Object.class || type == String.class;
    boolean isParsed = type == Boolean.class || Number.class.isAssignableFrom(type);
    return isText || (isParsed && !(expression.apply(null) instanceof Failure));
  }

  private static String expected(Class<?> type) {
    String kind =
        type == Double.class
            ? "a number"
            : Number.class.isAssignableFrom(type)
                ? "an integer"
                : type == Boolean.class ? "true or false" : "a " + type.getSimpleName();
    return "expected " + kind + ", or a Gatling EL String that gives one";
  }

  @SuppressWarnings("unchecked") // Failure is a Validation of nothing, and so of everything
  static <T> Validation<T> failure(String message) {
    return (Validation<T>) (Object) new Failure(message);
  }

  /** The value of Gatling's {@code Validation}, whose variance Java's types do not know. */
  @SuppressWarnings("unchecked") // a Validation that is not a Failure is a Success of T
  static <T> T value(Validation<T> validation) {
    Object either = validation;
    if (either instanceof Failure failure) {
      throw new Unresolved(failure.message());
    }
    return ((Success<T>) either).value();
  }

  /** Of one user, and so without a stack trace: there may be thousands. */
  private static final class Unresolved extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    Unresolved(String message) {
      super(message);
    }

    @Override
    public Throwable fillInStackTrace() {
      return this;
    }
  }

  /** The fields of an immutable builder; {@link #with} changes a copy before it is published. */
  public abstract static class Draft<D extends Draft<D>> implements Cloneable {

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

    /** The name of a header, which that method of the DSL is given. */
    public static String headerName(String method, String name) {
      if (!Settings.isHeaderName(name)) {
        throw InvalidSimulation.because(
            "%s(\"%s\"%s): expected a header name, e.g. X-Tenant"
                .formatted(method, name, method.equals("header") ? ", …" : ""));
      }
      return name;
    }

    /** The headers with one more, which replaces a header of the same name in any case. */
    public static <V> Map<String, V> andHeader(Map<String, V> headers, String name, V value) {
      var unused = headerName("header", name);
      Map<String, V> others = new LinkedHashMap<>(headers);
      others.keySet().removeIf(name::equalsIgnoreCase);
      return and(others, name, value);
    }

    /** With more headers, whose values may be secrets. */
    public static Map<String, Dynamic<String>> andHeaders(
        Map<String, Dynamic<String>> headers, Map<String, String> more) {
      Map<String, Dynamic<String>> all = headers;
      for (Map.Entry<String, String> each : more.entrySet()) {
        all = andHeader(all, each.getKey(), secret(each.getValue()));
      }
      return all;
    }

    public static <V> Map<String, V> and(Map<String, V> map, String key, V value) {
      Map<String, V> more = new LinkedHashMap<>(map);
      more.put(key, value);
      return Collections.unmodifiableMap(more);
    }
  }
}

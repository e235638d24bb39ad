package io.github.gatlingllm.action;

import io.gatling.core.CoreComponents;
import io.gatling.javaapi.core.PopulationBuilder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Llm protocols that Gatling drops without a word: of two in one call of a population's {@code
 * protocols(…)} it keeps the last. Such a call asks both builders, one after the other, from the
 * same place; a loop that gives each population its protocol does so too, but uses all of them.
 */
public final class ReplacedProtocols {
  private static final StackWalker STACK = StackWalker.getInstance();
  private static final List<LlmProtocol> FOLLOWED = new ArrayList<>();
  private static @Nullable LlmProtocol last;
  private static List<String> lastPlace = List.of();

  private ReplacedProtocols() {}

  /** Called where Gatling takes a protocol. */
  public static synchronized void taken(LlmProtocol protocol) {
    List<String> place =
        STACK.walk(
            frames ->
                frames
                    .dropWhile(each -> !isPopulations(each))
                    .map(each -> each.toStackTraceElement() + " " + each.getByteCodeIndex())
                    .toList());
    if (last != null && !last.equals(protocol) && !place.isEmpty() && place.equals(lastPlace)) {
      FOLLOWED.add(last);
    }
    last = protocol;
    lastPlace = place;
  }

  private static boolean isPopulations(StackWalker.StackFrame frame) {
    return frame.getClassName().equals(PopulationBuilder.class.getName());
  }

  /** Refuses a simulation in which one that another follows serves no scenario. */
  static synchronized void requireNone(CoreComponents core) {
    List<LlmProtocol> used = InjectionPlans.protocols(core);
    List<LlmProtocol> followed = List.copyOf(FOLLOWED);
    FOLLOWED.clear();
    if (!used.isEmpty() && !used.containsAll(followed)) {
      throw InvalidSimulation.because(InvalidSimulation.StartFilter.TWO_PROTOCOLS);
    }
  }
}

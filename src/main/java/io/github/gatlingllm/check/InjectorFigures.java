package io.github.gatlingllm.check;

import io.github.gatlingllm.metric.Distribution;
import org.jspecify.annotations.Nullable;

/**
 * What one injector of several measured, at one load level or at all pooled, and how it fared.
 *
 * @param name the {@code injector} of its records
 * @param planned requests that its plan asks for in the measure windows; null where it does not say
 * @param started its requests scheduled in a measure window
 * @param ended of those, how many ended by themselves
 * @param ok of those, how many succeeded
 * @param failed of those, how many failed
 * @param requestsPerS its ok requests that ended in the window ÷ window; null without a window
 * @param outputTokensPerS its tokens that arrived in the window ÷ window; null without a window
 * @param ttftMs of its ok requests
 * @param startLagMs start − planned start; empty in closed loops
 * @param loopLagMaxMs how late its event loops were at most; null where not known
 * @param ownCpu share of its machine's processors that its process used; null where not known
 * @param idleCpu share of them that was idle; null where not known
 * @param generator what the check {@code generator} says of it alone; null where not known
 */
public record InjectorFigures(
    String name,
    @Nullable Long planned,
    long started,
    long ended,
    long ok,
    long failed,
    @Nullable Double requestsPerS,
    @Nullable Double outputTokensPerS,
    Distribution ttftMs,
    Distribution startLagMs,
    @Nullable Double loopLagMaxMs,
    @Nullable Double ownCpu,
    @Nullable Double idleCpu,
    Check.@Nullable Level generator) {}

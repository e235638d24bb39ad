package io.github.gatlingllm.engine;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * What all connections of one engine share.
 *
 * @param received counts completion requests
 * @param groundTruth takes what was done for each request
 */
record EngineCore(
    EngineOptions options,
    SchedulerThread scheduler,
    EngineMetrics metrics,
    AtomicLong received,
    Consumer<GroundTruth> groundTruth,
    LongSupplier nanoClock) {}

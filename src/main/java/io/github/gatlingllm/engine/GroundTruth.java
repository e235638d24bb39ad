package io.github.gatlingllm.engine;

import org.jspecify.annotations.Nullable;

/**
 * What the engine really did for one request, to hold a measurement against. All times are {@code
 * System.nanoTime()} of the engine's JVM.
 *
 * @param requestId the request's {@code X-Request-Id}, or one that the engine made up
 * @param receivedNanos the whole request had been read
 * @param admittedNanos it left the engine's queue; null when it never did
 * @param firstTokenNanos the first token was handed to the connection; null when none was
 * @param tokenNanos the same for each token, in order
 * @param promptTokens of the prompt
 * @param cachedTokens of these, tokens that the prefix cache held; of the first choice
 * @param outputTokens generated and sent, of all choices
 * @param endedNanos the last byte was handed to the connection, or the connection was gone
 * @param cancelled whether the client went away before the end
 */
@SuppressWarnings("ArrayRecordComponent") // as many numbers as tokens; a copy per reader is waste
public record GroundTruth(
    String requestId,
    long receivedNanos,
    @Nullable Long admittedNanos,
    @Nullable Long firstTokenNanos,
    long[] tokenNanos,
    int promptTokens,
    int cachedTokens,
    int outputTokens,
    long endedNanos,
    boolean cancelled) {}

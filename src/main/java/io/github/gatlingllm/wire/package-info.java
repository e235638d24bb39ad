/**
 * Request bodies for each {@link io.github.gatlingllm.wire.Api}, and the secrets of a request that
 * no file, log or console may show. Pure: no I/O, no clock, no threads. Not for users.
 */
@NullMarked
package io.github.gatlingllm.wire;

import org.jspecify.annotations.NullMarked;

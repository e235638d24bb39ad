/** Which share of a load test this process runs, and when it starts. Not for users' code. */
@NullMarked
package io.github.gatlingllm.injector;

import org.jspecify.annotations.NullMarked;

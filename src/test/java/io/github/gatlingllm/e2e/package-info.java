/** Whole runs of Gatling, as users start them, and the simulations that they run. */
@NullMarked
package io.github.gatlingllm.e2e;

import org.jspecify.annotations.NullMarked;

/** Complete runs of Gatling, as users start them, and their simulations. */
@NullMarked
package io.github.gatlingllm.e2e;

import org.jspecify.annotations.NullMarked;

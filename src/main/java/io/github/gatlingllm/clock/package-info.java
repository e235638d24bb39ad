/** How far this machine's clock is from one that all injectors of a load test can ask. */
@NullMarked
package io.github.gatlingllm.clock;

import org.jspecify.annotations.NullMarked;

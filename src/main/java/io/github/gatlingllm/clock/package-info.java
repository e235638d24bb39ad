/** The offset of this machine's clock from one that all injectors of a load test can ask. */
@NullMarked
package io.github.gatlingllm.clock;

import org.jspecify.annotations.NullMarked;

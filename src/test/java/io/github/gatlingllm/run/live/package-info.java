@NullMarked
package io.github.gatlingllm.run.live;

import org.jspecify.annotations.NullMarked;

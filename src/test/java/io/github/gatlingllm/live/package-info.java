@NullMarked
package io.github.gatlingllm.live;

import org.jspecify.annotations.NullMarked;

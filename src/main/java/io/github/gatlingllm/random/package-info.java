/** Random numbers determined by a seed. Not for users. */
@NullMarked
package io.github.gatlingllm.random;

import org.jspecify.annotations.NullMarked;

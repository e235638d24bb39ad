/** Servers and pieces that tests script byte by byte. */
@NullMarked
package io.github.gatlingllm.testing;

import org.jspecify.annotations.NullMarked;

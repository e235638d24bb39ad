/** Servers scripted by tests byte by byte, and other parts of tests. */
@NullMarked
package io.github.gatlingllm.testing;

import org.jspecify.annotations.NullMarked;

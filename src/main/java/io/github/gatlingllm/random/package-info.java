/** Numbers that follow from a seed alone; for all packages, not for users. */
@NullMarked
package io.github.gatlingllm.random;

import org.jspecify.annotations.NullMarked;

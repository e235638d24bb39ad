/**
 * One run: its folder, its recorder, its live figures, and what is made of it when Gatling is done.
 */
@NullMarked
package io.github.gatlingllm.run;

import org.jspecify.annotations.NullMarked;

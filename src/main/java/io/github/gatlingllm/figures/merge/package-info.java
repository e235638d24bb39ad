/** Merges the runs of the injectors of a load test into one run. */
@NullMarked
package io.github.gatlingllm.figures.merge;

import org.jspecify.annotations.NullMarked;

/** Several runs of one load test, one of each injector, become one. */
@NullMarked
package io.github.gatlingllm.merge;

import org.jspecify.annotations.NullMarked;

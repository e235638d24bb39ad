/**
 * The contract between a run and its report: what one request was, when its tokens came, how it
 * ended; and the file that carries it. The run half of the project and the report half meet only
 * here.
 */
@NullMarked
package io.github.gatlingllm.record;

import org.jspecify.annotations.NullMarked;

/** What is asked: prompts, where they come from and which request gets which. */
@NullMarked
package io.github.gatlingllm.workload;

import org.jspecify.annotations.NullMarked;

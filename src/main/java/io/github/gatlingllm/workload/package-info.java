/**
 * Workloads: prompts and their lengths, prefixes, datasets, tokenizers and conversations. Users
 * meet {@code Tokenizer}, {@code LengthDistribution}, {@code Dialog} and {@code Conversation}
 * through the DSL; the rest is internal.
 */
@NullMarked
package io.github.gatlingllm.workload;

import org.jspecify.annotations.NullMarked;

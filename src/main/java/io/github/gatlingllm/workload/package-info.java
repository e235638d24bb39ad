/**
 * Workloads: prompts and their lengths, prefixes, datasets, tokenizers and conversations. The DSL
 * accepts and returns {@code Tokenizer}, {@code LengthDistribution}, {@code Conversation} and its
 * {@code Dialog}; the other types are internal.
 */
@NullMarked
package io.github.gatlingllm.workload;

import org.jspecify.annotations.NullMarked;

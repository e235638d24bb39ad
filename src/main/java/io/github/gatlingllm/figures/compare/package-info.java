/**
 * Compares recorded runs: what changed, by how much, and whether that is more than chance. Reads
 * records, writes nothing. Not for users of the DSL; the command {@code compare} uses it.
 */
@NullMarked
package io.github.gatlingllm.figures.compare;

import org.jspecify.annotations.NullMarked;

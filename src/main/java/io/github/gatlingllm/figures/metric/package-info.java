/**
 * The metrics catalogue: key, title, unit and formula of every metric, the names of its figures,
 * and what figures are made of (distributions, intervals). Pure. Not for users of the DSL; names of
 * figures are what assertions and settings are written with.
 */
@NullMarked
package io.github.gatlingllm.figures.metric;

import org.jspecify.annotations.NullMarked;

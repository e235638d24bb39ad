/**
 * The command line of the runnable jar, {@code java -jar gatling-llm.jar}: runs the benchmark,
 * works on recorded runs, serves the embedded engine. Users run the commands and do not use its
 * types.
 */
@NullMarked
package io.github.gatlingllm.simulations.cli;

import org.jspecify.annotations.NullMarked;

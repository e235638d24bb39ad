/**
 * The data model and the files of a run: records of requests, facts about the run, health of the
 * load generator, metrics of servers. It is the contract between the half of the project that runs
 * load and the half that makes reports.
 */
@NullMarked
package io.github.gatlingllm.record;

import org.jspecify.annotations.NullMarked;

package io.github.gatlingllm.stats;

/** All that one pass over the records of a run yields: the numbers, and what charts draw. */
public record RunFigures(Summary summary, Series series) {}

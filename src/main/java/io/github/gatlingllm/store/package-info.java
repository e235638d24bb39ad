/**
 * Where the folders of runs lie: on disk, in archives, in S3-compatible object storage; and how a
 * run's folder gets there. What comes from elsewhere is foreign input: paths, sizes and counts are
 * bounded.
 */
@NullMarked
package io.github.gatlingllm.store;

import org.jspecify.annotations.NullMarked;

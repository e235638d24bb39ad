/**
 * The only seam to Gatling's Scala core: protocol, components, actions and checks. An upgrade of
 * Gatling is work in this package.
 */
@NullMarked
package io.github.gatlingllm.action;

import org.jspecify.annotations.NullMarked;

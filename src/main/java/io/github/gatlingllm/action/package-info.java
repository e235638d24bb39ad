/**
 * The connection to Gatling's Scala core: protocol, components, actions, checks and injection. An
 * upgrade of Gatling changes this package only. Not for users' code.
 */
@NullMarked
package io.github.gatlingllm.action;

import org.jspecify.annotations.NullMarked;

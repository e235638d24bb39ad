/**
 * Example simulations. Each runs without changes against an engine inside the JVM. To use your own
 * server, set {@code -Dendpoint=http://localhost:8000/v1 -Dmodel=llama-8b}.
 *
 * <pre>
 * mvn gatling:test -Dgatling.simulationClass=examples.ChatSimulation
 * </pre>
 */
package examples;

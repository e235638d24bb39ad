plugins {
  id("io.gatling.gradle") version "3.15.1.3"
}

repositories {
  mavenLocal() // for gatling-llm, until it is on Maven Central
  mavenCentral()
}

dependencies {
  gatling("io.github.gatlingllm:gatling-llm:0.1.0")
}

gatling {
  gatlingVersion = "3.15.1"
}

rootProject.name = "load-test"

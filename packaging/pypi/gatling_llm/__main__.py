from gatling_llm import main

main()

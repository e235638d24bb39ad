"""GuideLLM, by its command line. It keeps the first and the last token of a request, and no gaps."""

import json
import pathlib
import subprocess
import sys

import common

load = common.load()
prompts = load.folder / "prompts.jsonl"
prompts.write_text((json.dumps({"prompt": common.PROMPT, "output_tokens_count": load.tokens}) + "\n") * load.requests)
subprocess.run(
    [
        pathlib.Path(sys.executable).with_name("guidellm"),
        "run",
        *("--backend", f"kind=openai_http,target={load.url},model=bench,request_format=/v1/chat/completions"),
        *("--profile", f"kind=concurrent,streams={load.streams}"),
        *("--constraint", f"kind=max_requests,count={load.requests}"),
        *("--tokenizer", f"kind=huggingface_auto,model={common.tokenizer(load.folder)}"),
        *("--data", f"kind=json_file,path={prompts}"),
        *("--output", f"kind=json,path={load.folder / 'benchmarks.json'}"),
        "--disable-console-interactive",
    ],
    check=True,
    timeout=270,
)
benchmark = json.loads((load.folder / "benchmarks.json").read_text())["benchmarks"][0]
common.write(
    load,
    [
        {
            "number": common.number(request["output"]),
            "offsets": [request["time_to_first_token_ms"] / 1e3],
        }
        for request in benchmark["requests"]["successful"]
    ],
)

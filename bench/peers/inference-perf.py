"""inference-perf, by its command line: one worker, as many as it would start by itself on one processor."""

import json
import pathlib
import subprocess
import sys

import common

load = common.load()
config = {
    "api": {"type": "chat", "streaming": True},
    "data": {
        "type": "shared_prefix",
        "shared_prefix": {
            "num_groups": 1,
            "num_prompts_per_group": 100,
            "system_prompt_len": 5,
            "question_len": 10,
            "output_len": load.tokens,
        },
    },
    "load": {
        "type": "concurrent",
        "stages": [{"num_requests": load.requests, "concurrency_level": load.streams}],
        "num_workers": 1,
        "worker_max_concurrency": load.streams,
    },
    "server": {"type": "vllm", "model_name": "bench", "base_url": load.url, "ignore_eos": True},
    "tokenizer": {"pretrained_model_name_or_path": str(common.tokenizer(load.folder))},
    "report": {"request_lifecycle": {"per_request": True, "use_server_output_tokens": True}},
    "storage": {"local_storage": {"path": str(load.folder / "reports")}},
}
(load.folder / "config.yml").write_text(json.dumps(config))  # JSON is YAML
subprocess.run(
    [pathlib.Path(sys.executable).with_name("inference-perf"), "-c", load.folder / "config.yml"],
    check=True,
    timeout=270,
)
records = json.loads(next((load.folder / "reports").rglob("per_request_lifecycle_metrics.json")).read_text())
common.write(
    load,
    [
        {
            "number": common.number(str(record["response"])),
            "offsets": [
                at - record["start_time"] for at in record["info"]["response_metrics"]["output_token_times"]
            ],
        }
        for record in records
        if not record["error"]
    ],
)

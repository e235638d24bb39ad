"""vLLM's bench client: the request function of `vllm bench serve`, with its connector and its limit of requests in flight."""

import asyncio
import importlib.util
import itertools
import pathlib
import site
import sys

import aiohttp

import common


def request_functions():
    """Loaded by itself: importing vLLM would load PyTorch, which the client does not need."""
    path = pathlib.Path(site.getsitepackages()[0], "vllm/benchmarks/lib/endpoint_request_func.py")
    spec = importlib.util.spec_from_file_location("endpoint_request_func", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


async def main() -> None:
    load = common.load()
    vllm = request_functions()
    connector = aiohttp.TCPConnector(
        limit=load.streams,
        limit_per_host=load.streams,
        ttl_dns_cache=300,
        use_dns_cache=True,
        keepalive_timeout=60,
        enable_cleanup_closed=True,
        force_close=False,
        ssl=False,
    )
    asked = vllm.RequestFuncInput(
        prompt=common.PROMPT,
        api_url=load.url + "/v1/chat/completions",
        prompt_len=15,
        output_len=load.tokens,
        model="bench",
        ignore_eos=True,
    )
    timeout = aiohttp.ClientTimeout(total=6 * 60 * 60)
    async with aiohttp.ClientSession(connector=connector, trust_env=True, timeout=timeout) as session:
        # One goes ahead, as the client's own test of the server does.
        await vllm.async_request_openai_chat_completions(asked, session)
        semaphore = asyncio.Semaphore(load.streams)

        async def limited():
            async with semaphore:
                return await vllm.async_request_openai_chat_completions(asked, session)

        outputs = await asyncio.gather(*(asyncio.create_task(limited()) for _ in range(load.requests)))
    common.write(
        load,
        [
            {
                "number": common.number(output.generated_text),
                "offsets": list(itertools.accumulate([output.ttft, *output.itl])),
            }
            for output in outputs
            if output.success
        ],
    )


asyncio.run(main())

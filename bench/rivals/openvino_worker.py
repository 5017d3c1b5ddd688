"""Runs inside the OpenVINO GenAI environment: one model, prompts of random ids.

    openvino_worker.py MODEL.gguf THREADS

Says {"ready": seconds} or {"not_supported": why} when the model is loaded, then answers each line
{"prompt": tokens, "decode": tokens, "vocabulary": ids, "seed": n} with {"first_s", "token_s"}: seconds
to the first token, and of each later one.
"""
import json
import os
import sys
import time

import numpy

# Its own words go to stderr; our lines go to what was stdout.
replies = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def say(**words):
    print(json.dumps(words), file=replies, flush=True)


def load(model, n_threads):
    import openvino_genai
    return openvino_genai.LLMPipeline(model, "CPU", INFERENCE_NUM_THREADS=n_threads)


def measure(pipeline, order):
    import openvino
    import openvino_genai
    ids = numpy.random.default_rng(order["seed"]).integers(0, order["vocabulary"], (1, order["prompt"]))
    config = openvino_genai.GenerationConfig(max_new_tokens=order["decode"] + 1, ignore_eos=True,
                                             do_sample=False, apply_chat_template=False)
    config.eos_token_id = -1
    inputs = openvino_genai.TokenizedInputs(openvino.Tensor(ids.astype(numpy.int64)),
                                            openvino.Tensor(numpy.ones(ids.shape, numpy.int64)))
    metrics = pipeline.generate(inputs, config).perf_metrics
    n_tokens = metrics.get_num_generated_tokens()
    if n_tokens != order["decode"] + 1:
        raise ValueError(f"{n_tokens} tokens came, {order['decode'] + 1} were asked for")
    return {"first_s": metrics.get_ttft().mean / 1e3,
            "token_s": metrics.get_tpot().mean / 1e3 if order["decode"] else None}


def main():
    begin = time.monotonic()
    try:
        pipeline = load(sys.argv[1], int(sys.argv[2]))
    except Exception as error:  # whatever the package raises: its words are the answer
        say(not_supported=f"{type(error).__name__}: {str(error).strip()[-300:]}")
        return
    say(ready=time.monotonic() - begin)
    for line in sys.stdin:
        try:
            say(**measure(pipeline, json.loads(line)))
        except Exception as error:
            say(not_supported=f"{type(error).__name__}: {str(error).strip()[-300:]}")


main()

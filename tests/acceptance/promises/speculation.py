"""Speed promise 9: speculation with prompt lookup pays where the answer repeats the prompt, and costs nothing
elsewhere."""
from promises.place import HWTV, Missing, output_of


def check():
    if b"--draft" not in output_of([HWTV, "run", "--help"]):
        raise Missing("hwtv run does not speculate yet")
    raise Missing("the prompts that speculation is judged on are not kept yet")
    yield  # a generator, as every check

"""What the peers reached on the day the targets were set, and whether today's run can be held against it:
a peer far below its record, scaled by what this machine was measured to do, was disturbed."""

THREADS = 2
READ_GB_S = 26.5     # 25-28, a buffer beyond the caches
INT8_GOP_S = 815     # 760-870
ALLOWED_BELOW = 0.15

# (peer, model): prefill 512, decode 64 in tok/s; the middle where a range was seen; None: not measured.
RATES = {
    ("llama.cpp", "Q4_0"): (91, 14.8),
    ("llama.cpp", "Q8_0"): (55, 9.0),
    ("llama.cpp", "Q4_K_M"): (92, 14.4),
    ("llama.cpp", "SmolLM2"): (186, 86),
    ("OpenVINO GenAI", "Q4_0"): (190, 9.0),
    ("OpenVINO GenAI", "Q8_0"): (191, 12.5),
    ("OpenVINO GenAI", "Q4_K_M"): (None, 7.7),
}


def least(peer, model, what, read_gb_s, int8_gop_s):
    """The rate below which the peer was disturbed; None where the record says nothing."""
    prefill, decode = RATES.get((peer, model), (None, None))
    rate, scale = ((decode, read_gb_s / READ_GB_S) if what == "decode" else
                   (prefill, int8_gop_s / INT8_GOP_S))
    return rate * scale * (1 - ALLOWED_BELOW) if rate else None

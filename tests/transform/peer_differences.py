"""Where a conversion of ours differs from the peer's on purpose, and why."""

SCALES = "the scale of each block of Q8_0 is searched for: the error is smaller than with the largest element's"
NORMS = "the peer adds 1 to the norms of an F16 checkpoint in F16; transformers, and we, in F32"


def reason(case, type_name, name, ours, theirs):
    """Why the tensor or key `name` differs; None: it must not.  Types and shapes never may."""
    if not ours or not theirs or ours[:2] != theirs[:2]:
        return None
    if type_name == "Q8_0" and ours[0] == "Q8_0":
        return SCALES
    if case == "gemma3_vision" and name.endswith("norm.weight"):
        return NORMS
    return None


def unexplained(case, type_name, ours, theirs):
    """(lines about what differs without a reason, {reason: how many})"""
    lines, reasons = [], {}
    for kind in "metadata", "tensors":
        mine, other = ours[kind], theirs[kind]
        for name in sorted(mine.keys() | other.keys()):
            if mine.get(name) == other.get(name):
                continue
            why = reason(case, type_name, name, mine.get(name), other.get(name)) if kind == "tensors" else None
            if why:
                reasons[why] = reasons.get(why, 0) + 1
            else:
                lines.append(f"{name}: {mine.get(name)} here, {other.get(name)} there")
    return lines, reasons

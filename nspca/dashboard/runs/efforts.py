"""Efforts for a proof, as the forms of the pages Sweep and Compare offer them."""

EFFORTS = {"fast": "fast", "standard": "standard", "thorough": "thorough"}
EFFORT_HELP = (
    "How hard to look for a tight upper bound: fast is seconds, standard tens of seconds, "
    "thorough minutes for each k."
)

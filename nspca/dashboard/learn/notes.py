"""Notes for the teacher, one for each screen of the lesson, which the page Learn shows folded."""

NOTES = (
    "**One minute.** Read the sentence aloud. Let the class point along the line in the air. Ask: what if "
    "there are 64 pixels instead of two? The line becomes a list of 64 weights. *Common mistake:* the "
    "principal component is not the line of a regression, because no pixel explains the other.",
    "**One minute.** Let the class count the coloured pixels left and right. Ask: what would you lose if "
    "you kept eight? The sentence gives both numbers, what is reached and what is proved. Open the two "
    "boxes on older methods only if there is time.",
    "**Two minutes.** Drag the angle slowly, and let the class watch the small image. Ask: how often does "
    "it change? It changes only where curves cross, so there are few sets to check. Then take guesses, "
    "and reveal the best angle.",
    "**One minute.** Step through the cones by hand at first, then press Play. Ask: why may a cone be "
    "dropped unseen? Its bound is below what was found already.",
    "**Two minutes.** Everybody paints eight pixels. Ask before the answer is shown: could a better "
    "choice exist that nobody found? The certificate answers, and its checker shares no code with the "
    "solver.",
    "**One minute.** Press Search. Green pixels are needed, grey ones are out. Ask: what is known when no "
    "pixel is blue? Then every other choice of eight pixels is ruled out.",
)

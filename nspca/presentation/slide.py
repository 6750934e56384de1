"""Draw a slide: a headline, up to two pictures side by side, and a line at the foot."""

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

SIZE = (1920, 1080)
MARGIN, TYPE, FOOT = 90, 58, 26
"""Pixels of the margin, of the letters of the headline and of those at the foot."""
INK, GREY = "#1d2b30", "#56646a"


def slide(headline: str, pictures: Sequence[bytes], foot: str) -> bytes:
    """Return a slide as PNG; `pictures` are PNG or JPEG files, of which the first two are shown."""
    width, height = SIZE
    canvas = Image.new("RGB", SIZE, "white")
    pen, large = ImageDraw.Draw(canvas), ImageFont.load_default(TYPE)
    lines = [""]
    for word in headline.split():
        longer = f"{lines[-1]} {word}".strip()
        if pen.textlength(longer, large) > width - 2 * MARGIN:
            lines.append(word)
        else:
            lines[-1] = longer
    pen.multiline_text((MARGIN, MARGIN), "\n".join(lines), INK, large, spacing=14)
    top = MARGIN + len(lines) * (TYPE + 18) + 40
    pen.text((MARGIN, height - MARGIN), foot, GREY, ImageFont.load_default(FOOT), anchor="ls")
    shown = [Image.open(io.BytesIO(one)) for one in pictures[:2]]
    room = (width - 2 * MARGIN) // max(1, len(shown))
    for number, picture in enumerate(shown):
        picture.thumbnail((room - 20, height - MARGIN - FOOT - 30 - top), Image.Resampling.LANCZOS)
        left = MARGIN + number * room + (room - picture.width) // 2
        canvas.paste(picture.convert("RGB"), (left, top))
    made = io.BytesIO()
    canvas.save(made, "PNG", optimize=True)
    return made.getvalue()

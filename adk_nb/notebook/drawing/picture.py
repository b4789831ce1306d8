"""A drawing as HTML that is still there in a notebook that isn't trusted.

JupyterLab (4.6, measured) takes `<svg>` and `<style>` out of an untrusted notebook's HTML and leaves their text behind,
but keeps images and `style` attributes. So the drawing is there twice: inline and hidden, and as an image. Where style
sheets are kept, one rule turns that round: the inline drawing, which has tooltips and follows the theme, is shown, the
image is not.
"""

from __future__ import annotations

import base64
import html

_SWITCH = ".adknb-inline{display:block!important}.adknb-still{display:none!important}"
_LARGEST_STILL = 150_000


def picture_html(svg: str, *, alt: str, text: str, note: str = "") -> str:
    """Put a drawing into HTML that shows it in trusted and untrusted notebooks, exports and previews.

    Args:
        svg: A standalone drawing of ours, with its style sheet.
        alt: What a screen reader says of the image.
        text: The same as plain text; stands in for the image of a very large drawing, which would double its size.
        note: One line below the drawing.
    """
    if len(svg) <= _LARGEST_STILL:
        data = base64.b64encode(svg.encode()).decode("ascii")
        still = f'<img class="adknb-still" alt="{html.escape(alt)}" src="data:image/svg+xml;base64,{data}">'
    else:
        still = f'<pre class="adknb-still">{html.escape(text)}</pre>'
    below = f'<div style="opacity:.7;font-size:12px">{html.escape(note)}</div>' if note else ""
    return (
        f'<div class="adknb mathjax_ignore" style="overflow-x:auto"><style>{_SWITCH}</style>'
        f'<div class="adknb-inline" style="display:none">{svg}</div>{still}{below}</div>'
    )

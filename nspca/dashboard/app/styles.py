"""What Streamlit has no option for: the styles that every page adds to its own. No Streamlit calls."""

FORM, PICTURE = "form", "picture"  # keys of containers, by which the styles know them
# Streamlit writes white on the primary colour; in the dark theme that colour is light, as links and switches
# on near black need it.
DARK_INK = "#0b1d23"
DARK = f"""
[data-testid='stBaseButton-primary'], [data-testid='stBaseButton-primary']:is(:hover, :focus, :active),
[data-testid='stMultiSelect'] [data-tag], [data-testid='stMultiSelect'] [data-tag] * {{ color: {DARK_INK}; }}
"""
# Less room above the first line than Streamlit leaves, and a choice of several never runs out of its line.
ALWAYS = """
[data-testid='stMainBlockContainer'] { padding-top: 3.2rem; }
[data-testid='stButtonGroup'] > [role='radiogroup'] { flex-wrap: wrap; overflow: visible; }
"""
# What is printed beside what was computed.
CLAIMS = """
.claims { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
.claims :is(th, td) { text-align: left; vertical-align: top; padding: 0.3rem 1rem 0.3rem 0;
  border-bottom: 1px solid rgba(128, 128, 128, 0.25); }
.claims .agrees, .claims .better { color: #0f9d74; font-weight: 600; }
.claims .differs { color: #c97f00; font-weight: 600; } .claims .opposite { color: #d9422b; font-weight: 600; }
"""
# A form in columns needs a wide page; on a narrower one they are as wide as what is in them, on as many lines
# as that takes.
NARROWER = f"""@media (max-width: 1200px) {{
.st-key-{FORM} [data-testid='stHorizontalBlock'] {{ flex-wrap: wrap; }}
.st-key-{FORM} [data-testid='stColumn'] {{ min-width: min(12rem, 100%); }}
}}"""
# On a phone the picture comes before the form that asked for it, and everything else after both.
PHONE = f"""@media (max-width: 640px) {{
:has(> .st-key-{FORM}) {{ order: 1; }}
:has(> .st-key-{FORM}) ~ * {{ order: 2; }}
:has(> .st-key-{FORM}) ~ :has(> .st-key-{PICTURE}) {{ order: 0; }}
}}"""
# Before a room: what is shown, large and alone.
PRESENTING = f"""
html {{ font-size: 135%; }}
[data-testid='stHeader'], [data-testid='stSidebar'], .st-key-{FORM} {{ display: none; }}
[data-testid='stMainBlockContainer'] {{ padding: 1rem 2rem; }}
"""


def style(dark: bool, present: bool) -> str:
    """All of it that holds now."""
    always = ALWAYS + CLAIMS + NARROWER + PHONE
    return f"<style>{always}{DARK if dark else ''}{PRESENTING if present else ''}</style>"

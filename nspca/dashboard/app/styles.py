"""Styles that the frame adds to every page, for looks that Streamlit has no option for.

No Streamlit calls.
"""

# Keys of containers, by which the styles know them.
FORM, PICTURE, BAR, WAYS = "form", "picture", "present_bar", "menu_ways"
# The browser chooses between the two colours of light-dark() as soon as the theme changes. Streamlit writes
# white on the primary colour; in the dark theme that colour is light, as links and switches on near black
# need it.
# Less room above the first line than Streamlit leaves, and a choice of several never runs out of its line.
# Parts of the page that nobody sees take no room. The answer is a heading right below the title, in smaller
# type than Streamlit's. A link to another page has a border, by which it is seen to be one.
ALWAYS = """
[data-testid='stCaptionContainer'] { color: light-dark(#56646a, #b5c0c4); opacity: 1; }
[data-testid^='stBaseButton-primary'], [data-testid^='stBaseButton-primary']:is(:hover, :focus, :active),
[data-testid='stMultiSelect'] [data-tag], [data-testid='stMultiSelect'] [data-tag] * {
  color: light-dark(#ffffff, #0b1d23); }
[data-testid='stMain'] { scrollbar-gutter: stable; }
[data-testid='stMain'] [data-testid='stPageLink'] a { border: 1px solid rgba(128, 128, 128, 0.4); }
[data-testid='stMain'] [data-testid='stMarkdown'] h2 { font-size: 1.5rem; padding: 0.5rem 0 0.75rem;
  text-wrap: pretty; }
[data-testid='stMain'] [data-testid='stMarkdown'] h3 { font-size: 1.25rem; padding: 0.5rem 0; }
[data-testid='stMain'] [data-testid='stExpander'] details { border: none; }
[data-testid='stMain'] [data-testid='stExpander'] summary { padding-left: 0; opacity: 1; }
[data-testid='stMain'] kbd { color: inherit; opacity: 1; }
[data-testid='stHeading'] h1 { font-size: 2.1rem; padding: 0.6rem 0 0.4rem; }
[data-testid='stMainBlockContainer'] { padding-top: 3.8rem; padding-bottom: 2.5rem; }
[data-testid='stMain'] [data-testid='stBaseButton-tertiary'] { color: light-dark(#0b6e8a, #7fc4d6);
  text-decoration: underline; text-underline-offset: 0.2em; min-height: 0; }
[class*='st-key-card_'] [data-testid='stBaseButton-tertiary'] { text-align: left;
  justify-content: flex-start; }
.st-key-answer [data-testid='stMarkdown'] h2 { min-height: calc(2lh + 1.25rem); }
.st-key-proof_line { min-height: 1.625rem; justify-content: center; }
.nspca-chip { width: fit-content; font-size: 0.875rem; line-height: 1.5; padding: 0 0.4rem;
  border-radius: 0.4rem; color: light-dark(#56646a, #b5c0c4); background: rgba(128, 128, 128, 0.15); }
.nspca-bar { font-size: 0.85rem; margin-top: 0.2rem; text-align: right; }
@media (min-width: 1200px) {
.nspca-bar { margin-left: 22rem; }
[data-testid='stMain']:has(.nspca-bar) .st-key-proof_line { margin-top: -2.3rem; max-width: 21rem; }
}
.nspca-chip::before { content: "✓ "; }
.st-key-seen_before { opacity: 0.5; }
.st-key-head { flex-wrap: nowrap; }
/* The button that copies a code is there without a pointer above it: for the keyboard and the finger. */
[data-testid='stCode'] :is([data-testid='stElementToolbar'], button) { visibility: visible; opacity: 1; }
.st-key-head > :first-child { min-width: 0; flex: 1 1 0; }
[data-testid='stButtonGroup'] > [role='radiogroup'] { flex-wrap: wrap; overflow: visible; }
:is(.st-key-memory, .st-key-saving, .st-key-present_fit, [class*='st-key-mirror_']) { position: absolute; }
"""
# The menu's ways into a page stand below it, and never look like the open page.
MENU = f"""
.st-key-{WAYS} {{ padding-left: 1.6rem; }}
.st-key-{WAYS} [data-testid='stPageLink-NavLink'] {{ background: none; padding-top: 0; padding-bottom: 0; }}
.st-key-{WAYS} [data-testid='stPageLink-NavLink'] * {{ font-weight: normal; font-size: 0.85rem; }}
"""
# What is printed beside what was computed.
CLAIMS = """
.claims { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
.claims :is(th, td) { text-align: left; vertical-align: top; padding: 0.3rem 1rem 0.3rem 0;
  border-bottom: 1px solid rgba(128, 128, 128, 0.25); }
.claims :is(.agrees, .better)::before { content: "✓ "; }
.claims .differs { color: light-dark(#8f5a00, #e69f00); font-weight: 600; }
.claims .opposite { color: light-dark(#b5301b, #ff8a75); font-weight: 600; }
"""
# A form in columns needs a wide page; on a narrower one they are as wide as what is in them, on as many lines
# as that takes.
NARROWER = f"""@media (max-width: 1200px) {{
.st-key-{FORM} [data-testid='stHorizontalBlock'] {{ flex-wrap: wrap; }}
.st-key-{FORM} [data-testid='stColumn'] {{ min-width: min(12rem, 100%); }}
}}"""
# On a phone the picture comes before the form that asked for it, and everything else after both. The title is
# smaller, and a table is a list of cards.
PHONE = f"""
[data-testid='stElementContainer']:has(.cards) {{ display: none; }}
.cards {{ display: grid; gap: 0.6rem; }}
.cards dl {{ display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 0.15rem 0.6rem;
  margin: 0; padding: 0.6rem 0.8rem; border: 1px solid rgba(128, 128, 128, 0.3); border-radius: 0.4rem; }}
.cards :is(dt, dd) {{ margin: 0; overflow-wrap: anywhere; }} .cards dt {{ opacity: 0.75; }}
@media (max-width: 640px) {{
:has(> .st-key-{FORM}) {{ order: 1; }}
:has(> .st-key-{FORM}) ~ * {{ order: 2; }}
:has(> .st-key-{FORM}) ~ :has(> .st-key-{PICTURE}) {{ order: 0; }}
[data-testid='stHeading'] h1 {{ font-size: 1.6rem; padding: 0.2rem 0; }}
[data-testid='stMainBlockContainer'] {{ padding-top: 4.2rem; }}
[data-testid='stMain'] :is([data-testid='stHeading'] :is(h2, h3), [data-testid='stMarkdown'] :is(h2, h3)) {{
  font-size: 1.15rem; }}
[data-testid='stElementContainer']:has(.cards) {{ display: flex; }}
[data-testid='stElementContainer']:has([data-testid='stDataFrame']):has(+ * .cards) {{ display: none; }}
.claims, .claims :is(tbody, tr, td) {{ display: block; }} .claims :is(thead, tr:has(th)) {{ display: none; }}
.claims tr {{ margin-bottom: 0.6rem; padding: 0.5rem 0.8rem; border: 1px solid rgba(128, 128, 128, 0.3);
  border-radius: 0.4rem; }}
.claims td {{ border: none; padding: 0.1rem 0; }}
}}"""
# In present mode title, sentence, picture and control fill the screen, and nothing else is shown.
PRESENTING = f"""
html {{ font-size: clamp(100%, 2.1vh, 170%); --nspca-words: 1.25rem; }}
[data-testid='stHeader'], [data-testid='stSidebar'], .st-key-{FORM} {{ display: none; }}
[data-testid='stMainBlockContainer'] {{ padding: 0.8rem 2rem 0.4rem; }}
[data-testid='stMainBlockContainer'] [data-testid='stVerticalBlock'] {{ gap: 0.4rem; }}
.st-key-proof_line {{ min-height: 0; }}
[class*='st-key-large'] button p {{ font-size: 1.3rem; }}
[data-testid='stMain'] .st-key-answer h2 {{ padding-bottom: 1.1rem; }}
[data-testid='stHeading'] h1 {{ font-size: 1.9rem; padding: 0 0 0.2rem; }}
[data-testid='stMainBlockContainer'] :has(> :is([data-testid='stExpander'], [data-testid='stDownloadButton'],
  [data-testid='stCaptionContainer'], [data-testid='stPageLink'], [data-testid='stDataFrame'],
  [data-testid='stPopover'], [data-testid='stTextInput'])), [class*='st-key-copy'],
  [data-testid='stElementContainer']:has(.claims) {{ display: none; }}
:has(> .st-key-{PICTURE}) ~ *:not(:has(.st-key-{PICTURE}, .st-key-{BAR})) {{ display: none; }}
"""


def style(present: bool) -> str:
    """Return the CSS for the present mode."""
    always = ALWAYS + MENU + CLAIMS + NARROWER + PHONE
    return f"<style>{always}{PRESENTING if present else ''}</style>"

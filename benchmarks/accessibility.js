// What a screen reader and a keyboard meet on a page: its figures with their texts, and its controls.
const DRAWN = "[role=figure], [role=img], img, canvas, svg, .js-plotly-plot";
const NO_FIGURE = "button, a, summary, [data-testid=stDataFrame]";  // icons, and the grid of a table, which has cells to read
// Of the two controls that open a file, the one that Tab never reaches does not count: the button beside it opens it.
const USED = "button, a[href], input:not([type='file'][tabindex='-1']), select, textarea, summary, [role=slider], [role=button], [role=link], [tabindex='0']";
// The members of a group count as one: arrow keys go on from its member that Tab reaches.
const GROUP = "[data-testid=stNumberInput], [role=radiogroup], [role=tablist], [role=toolbar], [role=group], [role=grid], [data-testid=stDataFrame]";
const LEAST = { width: 40, height: 20 };  // pixels: what is smaller is an icon

function main() { return document.querySelector("[data-testid=stMain]"); }

function isHidden(element) {
  if (element.inert || element.getAttribute("aria-hidden") === "true") return true;
  if (element.getAttribute("alt") === "") return true;  // an image that says by itself that it shows nothing
  // A box of its own is missing, and what is inside is seen.
  return !element.checkVisibility() && getComputedStyle(element).display !== "contents";
}

// Call `visit(element, from)` for each element that is seen, with what it returned for the parent; shadow roots too.
function walk(root, from, visit) {
  for (const element of root.children) {
    if (isHidden(element)) continue;
    const own = visit(element, from);
    walk(element, own, visit);
    if (element.shadowRoot) walk(element.shadowRoot, own, visit);
  }
}

function textOf(element) {
  const title = element.querySelector(":scope > title")?.textContent;
  return (element.getAttribute("aria-label") ?? element.getAttribute("alt") ?? title ?? "").trim();
}

function figures() {
  const found = [];
  walk(main(), false, (element, inside) => {
    const { width, height } = element.getBoundingClientRect();
    const isDrawn = element.matches(DRAWN) && width > LEAST.width && height > LEAST.height;
    if (isDrawn && !inside) found.push([`${element.tagName.toLowerCase()} ${element.className}`, textOf(element)]);
    return inside || isDrawn || element.matches(NO_FIGURE);
  });
  return found;
}

function controls() {
  const found = [];
  walk(main(), null, (element, group) => {
    const own = element.matches(GROUP) ? element : group;
    if (element === own) own.nspcaControl = undefined;
    if (element.matches(USED) && !element.disabled) {
      element.nspcaControl = own?.nspcaControl ?? found.length;
      if (own) own.nspcaControl = element.nspcaControl;
      const label = (element.getAttribute("aria-label") ?? element.innerText ?? "").trim().slice(0, 60);
      if (element.nspcaControl === found.length) found.push(label || element.outerHTML.slice(0, 120));
    }
    return own;
  });
  return found;
}

// The number of the control that has the focus: -1 for one that is not in the list, null for none at all.
function focused() {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element === document.body ? null : element?.nspcaControl ?? -1;
}

globalThis.nspcaReading = { figures, controls, focused };

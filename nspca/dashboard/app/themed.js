// Figures keep their colours for text and lines in the template, so the page's theme replaces them there.
function themed(layout, element) {
  const style = getComputedStyle(element);
  const get = (name, other) => style.getPropertyValue(name).trim() || other;
  const template = layout.template?.layout ?? {};
  const text = get("--st-text-color", "#555");
  const page = get("--st-background-color", "#fff");
  const font = { ...template.font, color: text, family: get("--st-font", "sans-serif") };
  const hoverlabel = { ...template.hoverlabel, bgcolor: page, bordercolor: text, font: { color: text, family: font.family } };
  const height = document.fullscreenElement === element ? undefined : element.clientHeight;  // the figure fills the screen
  const themed = { ...layout, height, autosize: true, template: { ...layout.template, layout: { ...template, font, hoverlabel } } };
  return adapted(themed, element);
}

// In present mode the font size grows with the screen, as on the rest of the page.
function enlarged(layout, present) {
  const factor = present ? Math.min(1.7, Math.max(1, (0.021 * innerHeight) / 16)) : 1;
  if (factor === 1) return layout;
  const larger = (part, name, size) => (part ? { ...part, [name]: { ...part[name], size: factor * (part[name]?.size ?? size) } } : part);
  const axis = (part) => ({ ...larger(part, "tickfont", 13), title: larger(part.title ?? {}, "font", 14) });
  const own = { ...larger(layout, "font", 14), annotations: layout.annotations?.map((note) => larger(note, "font", 12)) };
  for (const name of Object.keys(own)) if (AXIS.test(name)) own[name] = axis(own[name]);
  return own;
}

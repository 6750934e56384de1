// Adds two buttons above every figure, beside the camera that saves an SVG: one saves a PNG, one fills the screen.
// They are made when the pointer comes near.
async function save(plot, url) {
  const Plotly = await load(url);
  const page = getComputedStyle(document.querySelector(".stApp") ?? document.body).backgroundColor;
  const layout = { ...plot.layout, paper_bgcolor: page };
  const size = { width: plot.clientWidth, height: plot.clientHeight };
  await Plotly.downloadImage({ data: plot.data, layout }, { ...size, format: "png", scale: 2, filename: "nspca" });
}

const CORNERS = '<svg viewBox="0 0 24 24" width="14" height="14" style="vertical-align: middle" fill="none" stroke="currentColor" stroke-width="2.5"><path d="M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5"/></svg>';

function button(face, said, press) {
  const made = document.createElement("a");
  made.className = "modebar-btn nspca-more";
  made.dataset.title = said;
  made.setAttribute("role", "button");
  made.setAttribute("aria-label", said);
  made.tabIndex = 0;
  made.innerHTML = face;
  made.style.cssText = "font: 600 11px/22px sans-serif; color: var(--st-text-color, #777); cursor: pointer; text-decoration: none;";
  made.onclick = () => press().catch((error) => console.error(error));
  made.onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); made.click(); } };
  return made;
}

// Fills the screen with a figure, and returns by the same button or Esc. The figure adapts to the size of its element.
async function larger(plot) {
  if (document.fullscreenElement) return document.exitFullscreen();
  const height = plot.style.height;
  const sized = () => Plotly.Plots.resize(plot);
  const changed = () => {
    const whole = document.fullscreenElement === plot;
    plot.style.background = whole ? getComputedStyle(document.querySelector(".stApp")).backgroundColor : "";
    plot.style.height = whole ? "100vh" : height;
    Plotly.relayout(plot, { height: null, autosize: true }).then(sized);
    if (!whole) plot.removeEventListener("fullscreenchange", changed);
  };
  plot.addEventListener("fullscreenchange", changed);
  try {
    await plot.requestFullscreen();
  } catch (error) {
    plot.removeEventListener("fullscreenchange", changed);
    throw error;
  }
}

function add(plot) {
  const camera = plot.querySelector('.modebar-btn[data-title^="Download plot"]');
  if (!camera || camera.parentElement.querySelector(".nspca-more")) return;
  const more = [button("PNG", "Download plot as PNG", () => save(plot, globalThis.__nspcaSaving))];
  // Phones cannot fill the screen with a part of a page.
  if (document.fullscreenEnabled) more.push(button(CORNERS, "Whole screen", () => larger(plot)));
  camera.after(...more);
  camera.parentElement.style.display = "flex";
}

export default function ({ data }) {
  if (!globalThis.__nspcaSaving) {
    const near = (event) => {
      const plot = event.target.closest?.(".js-plotly-plot");
      if (plot) add(plot);
    };
    for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, near);
  }
  globalThis.__nspcaSaving = data.plotly;
}

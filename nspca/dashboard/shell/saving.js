// Above every figure, beside the camera that saves an SVG, a button that saves a PNG; made when somebody comes near.
async function save(plot, url) {
  const Plotly = await load(url);
  const page = getComputedStyle(document.querySelector(".stApp") ?? document.body).backgroundColor;
  const layout = { ...plot.layout, paper_bgcolor: page };
  const size = { width: plot.clientWidth, height: plot.clientHeight };
  await Plotly.downloadImage({ data: plot.data, layout }, { ...size, format: "png", scale: 2, filename: "nspca" });
}

function add(plot) {
  const camera = plot.querySelector('.modebar-btn[data-title^="Download plot"]');
  if (!camera || camera.parentElement.querySelector(".nspca-png")) return;
  const button = document.createElement("a");
  button.className = "modebar-btn nspca-png";
  button.dataset.title = "Download plot as PNG";
  button.setAttribute("role", "button");
  button.setAttribute("aria-label", button.dataset.title);
  button.tabIndex = 0;
  button.textContent = "PNG";
  button.style.cssText = "font: 600 11px/22px sans-serif; color: var(--st-text-color, #777); cursor: pointer; text-decoration: none;";
  button.onclick = () => save(plot, globalThis.__nspcaSaving).catch((error) => console.error(error));
  button.onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); button.click(); } };
  camera.after(button);
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

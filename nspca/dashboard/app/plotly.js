// First part of every script that draws with Plotly: loads plotly.js of this server, once per page, and sets its options.
function load(url) {
  if (globalThis.Plotly) return Promise.resolve(globalThis.Plotly);
  return (globalThis.__nspcaPlotly ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = url;
    script.onload = () => done(globalThis.Plotly);
    script.onerror = () => {
      globalThis.__nspcaPlotly = null;
      failed(new Error("plotly.js could not be loaded"));
    };
    document.head.appendChild(script);
  }));
}

const config = { responsive: true, displaylogo: false, showSendToCloud: false, toImageButtonOptions: { format: "svg", filename: "nspca" } };

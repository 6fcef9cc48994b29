// Measures the page and leaves the numbers in an element that a dump of the page shows.
window.addEventListener("load", () => {
  const inside = (box, frame) =>
    box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
  const pictures = [...document.querySelectorAll("figure")].map((figure) => {
    const svg = figure.querySelector("svg");
    const frame = svg.getBoundingClientRect();
    const shapes = [...svg.querySelectorAll("path, rect, line, circle, polyline, polygon")];
    return {
      title: figure.querySelector("h2").textContent,
      width: frame.width,
      height: frame.height,
      shapes: shapes.filter((s) => { const b = s.getBoundingClientRect(); return b.width > 0 || b.height > 0; }).length,
      outside: [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim() && !inside(t.getBoundingClientRect(), frame)).map((t) => t.textContent),
    };
  });
  const probe = document.createElement("pre");
  probe.id = "probe";
  probe.textContent = JSON.stringify({
    title: document.title,
    requests: performance.getEntriesByType("resource").map((r) => r.name),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    rows: document.querySelectorAll("table.comparison tbody tr").length,
    empty: [...document.querySelectorAll("table.comparison td")].filter((td) => td.textContent === "").length,
    pictures,
  });
  document.body.append(probe);
});

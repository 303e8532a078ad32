// Figures of the daemon as charts. Each stands in words, too: the canvas is for eyes, the caption for everybody.

const KEPT = 450; // points: a quarter of an hour at one every two seconds

const CHARTS = [
  {
    title: "Real-time factor",
    hint: "time to decode one second of audio; at 1 it no longer keeps up",
    series: ["rtf"],
    now: (last) => (last.rtf === null ? "idle" : last.rtf.toFixed(3)),
  },
  {
    title: "Latency",
    hint: ["words on this page", "finals of all clients"],
    series: ["lag", "final"],
    now: (last) => milliseconds(last.lag ?? last.final),
  },
  {
    title: "Memory",
    hint: ["worker", "front"],
    series: ["worker", "front"],
    now: (last) => `${Math.round(last.worker + last.front)} MiB`,
  },
  {
    title: "Temperature",
    hint: "hottest sensor",
    series: ["temperature"],
    now: (last) => (last.temperature === null ? "no sensor" : `${last.temperature.toFixed(1)} °C`),
    isOptional: true,
  },
  {
    title: "Sessions",
    hint: "open now",
    series: ["sessions"],
    now: (last) => `${last.sessions} of ${last.most}`,
    isWhole: true,
  },
];

const points = [];
let drawn = [];

/** Build the charts; call once. */
export function begin() {
  const place = document.getElementById("charts");
  drawn = CHARTS.map((chart) => build(place, chart));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.forEach((one) => one.rebuild()));
  new ResizeObserver(() => drawn.forEach((one) => one.fit())).observe(place);
}

/** Another set of figures: {at, rtf, lag, final, worker, front, temperature, sessions, most}; null where there is none. */
export function add(figures) {
  points.push(figures);
  if (points.length > KEPT) points.shift();
  for (const one of drawn) one.update(figures);
}

function build(place, chart) {
  const figure = document.createElement("figure");
  figure.className = "chart";
  const caption = document.createElement("figcaption");
  const now = span("now", "…");
  caption.append(span("", chart.title), now);
  const hint = document.createElement("p");
  hint.className = "hint";
  hint.append(...legend(chart.hint));
  const plotPlace = document.createElement("div");
  plotPlace.className = "plot";
  plotPlace.setAttribute("aria-hidden", "true");
  figure.append(caption, hint, plotPlace);
  place.append(figure);
  let plot = null;
  const rebuild = () => {
    plot?.destroy();
    plot = new uPlot(options(chart, plotPlace), data(chart), plotPlace);
  };
  rebuild();
  return {
    rebuild,
    fit: () => plot.setSize(size(plotPlace)),
    update: (figures) => {
      now.textContent = chart.now(figures);
      figure.classList.toggle("empty", chart.isOptional === true && points.every((point) => point[chart.series[0]] === null));
      plot.setData(data(chart));
    },
  };
}

function legend(hint) {
  if (typeof hint === "string") return [hint];
  return [span("first", `● ${hint[0]}`), span("second", `● ${hint[1]}`)];
}

function data(chart) {
  const now = points.at(-1)?.at ?? 0;
  return [points.map((point) => point.at - now), ...chart.series.map((name) => points.map((point) => point[name]))];
}

function options(chart, place) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--soft"),
    font: "11px system-ui, sans-serif",
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  const lines = chart.series.map((_, number) => ({
    stroke: colour(number === 0 ? "--accent" : "--second"),
    width: 2,
    points: { show: false },
    spanGaps: false,
  }));
  return {
    ...size(place),
    cursor: { show: false },
    legend: { show: false },
    padding: [6, 10, 0, 0],
    scales: { x: { time: false, range: span60 }, y: { range: range(chart) } },
    axes: [
      { ...axis, grid: { show: false }, incrs: [10, 15, 30, 60, 120, 300], space: 64, size: 24, gap: 7, values: (_, ticks) => ticks.map(ago) },
      { ...axis, size: 44, space: 26, values: (_, ticks) => ticks.map((tick) => label(tick, chart)) },
    ],
    series: [{}, ...lines],
  };
}

// Seconds back from now: a minute at least, so that the line grows from the right.
function span60(_, least) {
  return [Math.min(-60, least ?? 0), 0];
}

function ago(tick) {
  if (tick === 0) return "now";
  return tick > -60 ? `${-tick} s` : `${-tick / 60} min`;
}

// From zero, so that a flat line looks flat.
function range(chart) {
  return (_, _least, most) => [0, Math.max(chart.isWhole ? 2 : 0, Number.isFinite(most) ? most * 1.15 : 0) || 1];
}

function label(tick, chart) {
  if (chart.isWhole) return Number.isInteger(tick) ? String(tick) : "";
  return String(Number(tick.toPrecision(3)));
}

function size(place) {
  return { width: Math.max(120, place.clientWidth), height: place.clientHeight || 110 };
}

function span(name, content) {
  const element = document.createElement("span");
  if (name) element.className = name;
  element.textContent = content;
  return element;
}

function milliseconds(seconds) {
  return seconds === null || seconds === undefined ? "idle" : `${Math.round(seconds * 1000)} ms`;
}

// Asks the daemon how it is, every two seconds while somebody looks.

import { request } from "./access.js";
import * as charts from "./charts.js";

const EVERY_MS = 2000;

const place = document.getElementById("daemon");
let before = null;
let lags = [];

/** Words of this page appeared so long after they were said. */
export function noteLag(seconds) {
  lags.push(seconds);
}

/** Ask for ever; onStatus is called with each document. */
export async function watch(onStatus) {
  charts.begin();
  for (;;) {
    if (!document.hidden) await look(onStatus);
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}

async function look(onStatus) {
  try {
    const status = await (await request("/status")).json();
    const metrics = await (await request("/metrics")).text();
    describe(status);
    onStatus(status);
    charts.add(figures(status, finalWaits(metrics)));
  } catch {
    place.textContent = "the daemon does not answer";
    place.className = "trouble";
  }
}

function describe(status) {
  const isWell = ["ready", "idle", "waking"].includes(status.state);
  place.className = isWell ? "ready" : "trouble";
  place.textContent = isWell ? `${status.model.model} on ${status.model.provider}` : `${status.state}: ${status.reason}`;
}

function figures(status, waits) {
  const stats = status.stats;
  const now = { audio: stats?.audio_s ?? 0, decode: stats?.decode_s ?? 0, ...waits };
  const since = before ?? now;
  before = now;
  const audio = now.audio - since.audio;
  const count = now.count - since.count;
  const lag = median(lags.splice(0));
  return {
    at: Date.now() / 1000,
    rtf: audio > 0 ? (now.decode - since.decode) / audio : null,
    lag,
    final: count > 0 ? (now.sum - since.sum) / count : null,
    worker: status.memory_bytes.worker / 2 ** 20,
    front: status.memory_bytes.front / 2 ** 20,
    temperature: status.temperature_c,
    sessions: status.sessions,
    most: status.max_sessions,
  };
}

// The histogram of Prometheus, all protocols together.
function finalWaits(metrics) {
  const total = (name) => {
    let sum = 0;
    for (const line of metrics.split("\n")) if (line.startsWith(name)) sum += Number(line.slice(line.lastIndexOf(" ")));
    return sum;
  };
  return { sum: total("edge_asr_final_latency_seconds_sum"), count: total("edge_asr_final_latency_seconds_count") };
}

function median(values) {
  if (values.length === 0) return null;
  values.sort((a, b) => a - b);
  return values[values.length >> 1];
}

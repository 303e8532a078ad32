// The captions on the page. A finished sentence is announced to screen readers; one that still changes is not.

const finals = document.getElementById("finals");
const settled = document.getElementById("settled");
const unsettled = document.getElementById("unsettled");
const box = document.getElementById("captions");
const buttons = ["copy", "save", "clear"].map((id) => document.getElementById(id));

let said = [];

/** A partial or a final; its times count from offset seconds. */
export function show(event, offset) {
  keepingTheEndInView(() => {
    document.getElementById("welcome").hidden = true;
    if (event.type === "partial") {
      settled.textContent = event.text.slice(0, event.stable_chars);
      unsettled.textContent = event.text.slice(event.stable_chars);
    } else {
      settled.textContent = unsettled.textContent = "";
      if (event.text) add(event, offset);
    }
  });
}

/** A sentence about what happened, between those that were said. */
export function remark(sentence) {
  const item = document.createElement("li");
  item.className = "event";
  item.textContent = sentence;
  keepingTheEndInView(() => finals.append(item));
}

/** Nothing more comes of what is open. */
export function settle() {
  settled.textContent = unsettled.textContent = "";
}

export function clear() {
  said = [];
  finals.replaceChildren();
  settle();
  document.getElementById("welcome").hidden = false;
  for (const button of buttons) button.disabled = true;
}

export function text() {
  return said.map((event) => event.text).join("\n") + "\n";
}

export function subtitles() {
  return said.map((cue, number) => `${number + 1}\n${stamp(cue.start)} --> ${stamp(cue.end)}\n${cue.text}\n\n`).join("");
}

function add(event, offset) {
  const start = event.start_s + offset;
  said.push({ text: event.text, start, end: event.end_s + offset });
  const item = document.createElement("li");
  const time = document.createElement("time");
  time.dateTime = `PT${start.toFixed(1)}S`;
  time.textContent = clock(start);
  const words = document.createElement("span");
  words.className = "said";
  words.textContent = event.text;
  item.append(time, words);
  if (event.command) item.append(meaning(event.command));
  finals.append(item);
  for (const button of buttons) button.disabled = false;
}

// What was meant by a spoken command, where the daemon listens for them.
function meaning({ intent, slots }) {
  const line = document.createElement("span");
  line.className = "said meant";
  line.textContent = [intent, ...Object.entries(slots).map(([name, value]) => `${name}: ${value}`)].join(" · ");
  return line;
}

// Whoever has scrolled up to read is left there.
function keepingTheEndInView(change) {
  const wasAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 60;
  change();
  if (wasAtEnd) box.scrollTop = box.scrollHeight;
}

function clock(seconds) {
  const whole = Math.floor(seconds);
  const minutes = Math.floor(whole / 60);
  const rest = String(whole % 60).padStart(2, "0");
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}

function stamp(seconds) {
  const ms = Math.round(seconds * 1000);
  const part = (value, digits) => String(value).padStart(digits, "0");
  const [h, m, s] = [Math.floor(ms / 3600000), Math.floor(ms / 60000) % 60, Math.floor(ms / 1000) % 60];
  return `${part(h, 2)}:${part(m, 2)}:${part(s, 2)},${part(ms % 1000, 3)}`;
}

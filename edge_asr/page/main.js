// Buttons to deeds. One thing at a time is listened to: this browser's microphone, a recording, or the board's microphone.

import { followBoard } from "./board.js";
import * as captions from "./captions.js";
import { noteLag, watch } from "./figures.js";
import { Microphone, canRecord } from "./microphone.js";
import { readRecording } from "./recording.js";
import { Session } from "./session.js";

const byId = (id) => document.getElementById(id);
const listenButton = byId("listen");
const boardButton = byId("board");
const level = byId("level");

let stopCurrent = null; // ends what is being listened to; null when nothing is

// What is shown

function say(sentence, isTrouble = false) {
  byId("state").textContent = sentence;
  byId("state").classList.toggle("trouble", isTrouble);
}

function press(button, isPressed, label) {
  button.setAttribute("aria-pressed", String(isPressed));
  (button === listenButton ? byId("listen-label") : button).textContent = label;
}

function showLevel(peak) {
  const loudness = peak > 0 ? Math.max(0, 1 + (20 * Math.log10(peak)) / 60) : 0;
  level.style.transform = `scaleX(${Math.min(1, loudness)})`;
}

function idle(sentence = "") {
  stopCurrent = null;
  press(listenButton, false, "Listen");
  press(boardButton, false, "The board’s microphone");
  showLevel(0);
  say(sentence);
}

// This browser's microphone

async function listen() {
  let session = null;
  let heardAt = 0; // when the newest sample reached us, and its place, for the lag of words
  let heardSamples = 0;
  let isOver = false;
  const early = [];
  press(listenButton, true, "Stop");
  say("Waiting for the microphone…");
  const hear = (event, offset) => {
    if (event.type === "notice") return captions.remark(event.message);
    captions.show(event, offset);
    const behind = heardSamples / session.sampleRate - (event.end_s + offset);
    if (event.type === "partial") noteLag(Math.max(0, behind + (performance.now() - heardAt) / 1000));
  };
  let microphone;
  try {
    microphone = await Microphone.open((samples, peak) => {
      showLevel(peak);
      heardAt = performance.now();
      heardSamples += samples.length;
      if (session) session.send(samples);
      else early.push(samples);
    }, () => finish("The microphone is gone."));
  } catch (error) {
    return idle(refusal(error));
  }
  const tell = (sentence) => say(sentence || `Listening to ${microphone.name || "the microphone"}.`, sentence !== "");
  session = new Session({ sample_rate_hz: microphone.sampleRate, is_live: true }, hear, tell);
  for (const samples of early.splice(0)) session.send(samples);
  const lock = await navigator.wakeLock?.request("screen").catch(() => null);

  async function finish(sentence = "") {
    if (isOver) return;
    isOver = true;
    microphone.close();
    lock?.release();
    say("The last words…");
    await session.finish();
    captions.settle();
    idle(sentence);
  }

  stopCurrent = finish;
  session.ended.then(() => finish(session.failure ?? ""));
}

function refusal(error) {
  if (error.name === "NotAllowedError") return "The browser was not allowed to use the microphone; its settings for this page can change that.";
  if (error.name === "NotFoundError") return "This device has no microphone; a recording works all the same.";
  return `The microphone cannot be used: ${error.message}`;
}

// A recording

async function read(file) {
  await stopCurrent?.();
  press(listenButton, true, "Stop");
  say(`Reading ${file.name}…`);
  const reading = readRecording(file, captions.show, (sentence) => sentence && say(sentence, true), (part) => {
    say(`Reading ${file.name}: ${Math.round(100 * part)} %`);
  });
  let isStopped = false;
  stopCurrent = async () => { isStopped = true; reading.stop(); };
  try {
    await reading.done;
    captions.settle();
    idle(isStopped ? "" : `${file.name} is read.`);
  } catch (error) {
    idle();
    say(`${file.name} cannot be read: ${error.message}`, true);
  }
}

// The board's microphone

async function follow() {
  await stopCurrent?.();
  press(boardButton, true, "Stop reading along");
  const stop = followBoard((event) => {
    if (event.type === "level") showLevel(event.peak_dbfs === null ? 0 : 10 ** (event.peak_dbfs / 20));
    else if (event.type === "partial" || event.type === "final") captions.show(event, 0);
    else if (event.type === "microphone") hearBoard(event);
  }, (sentence) => sentence && say(sentence, true));
  stopCurrent = async () => { stop(); captions.settle(); idle(); };
}

function hearBoard(event) {
  const isTrouble = ["lost", "waiting", "silent"].includes(event.state);
  say(event.device ? `${event.device}: ${event.message}.` : `${event.message}.`, isTrouble);
  if (event.state === "lost" || event.state === "back") captions.remark(event.message);
}

// Wiring

listenButton.addEventListener("click", () => (stopCurrent ? stopCurrent() : listen()));
boardButton.addEventListener("click", () => (boardButton.getAttribute("aria-pressed") === "true" ? stopCurrent() : follow()));
byId("choose").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", (event) => {
  if (event.target.files.length) read(event.target.files[0]);
  event.target.value = "";
});
byId("clear").addEventListener("click", captions.clear);
byId("copy").addEventListener("click", async () => {
  await copy(captions.text());
  say("Copied.");
});
byId("save").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([captions.subtitles()], { type: "application/x-subrip" }));
  link.download = "captions.srt";
  link.click();
  URL.revokeObjectURL(link.href);
});

let depth = 0; // dragging over a child enters it before it leaves its parent
addEventListener("dragenter", (event) => { if (event.dataTransfer.types.includes("Files")) byId("drop").hidden = ++depth === 0; });
addEventListener("dragleave", () => { if (depth > 0 && --depth === 0) byId("drop").hidden = true; });
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  depth = 0;
  byId("drop").hidden = true;
  if (event.dataTransfer.files.length) read(event.dataTransfer.files[0]);
});

// The clipboard is one more thing that browsers keep for https and localhost.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

if (!canRecord()) {
  const port = location.port || (location.protocol === "https:" ? "443" : "80");
  listenButton.disabled = true;
  byId("how").textContent = "Drop a recording anywhere on this page.";
  byId("insecure").hidden = false;
  byId("insecure-host").textContent = location.host;
  byId("insecure-tunnel").textContent = `ssh -L ${port}:localhost:${port} USER@${location.hostname}`;
  byId("insecure-local").textContent = `http://localhost:${port}/`;
}

watch((status) => {
  boardButton.hidden = !status.microphone;
  byId("words-note").replaceChildren(...withCode(status.model?.words_note ?? ""));
});

// What stands between backquotes is to be typed.
function withCode(sentence) {
  return sentence.split("`").map((part, number) => {
    if (number % 2 === 0) return part;
    const code = document.createElement("code");
    code.textContent = part;
    return code;
  });
}

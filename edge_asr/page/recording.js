// A recording: decoded by the browser and streamed, so that captions come as it is read; what the browser cannot decode
// is uploaded, and the daemon tries.

import { request } from "./access.js";
import { Session } from "./session.js";

const RATE = 16000;
const PIECE = RATE / 2;

/** Read a file; hear as for a session, progress is called with the part that was sent. Returns how to stop it. */
export function readRecording(file, hear, say, progress) {
  let session = null;
  let isStopped = false;
  const done = (async () => {
    const samples = await decode(file);
    if (isStopped) return;
    if (samples === null) return upload(file, hear);
    session = new Session({ sample_rate_hz: RATE }, hear, say);
    for (let start = 0; start < samples.length && !session.isOver; start += PIECE) {
      await session.sendSlowly(toIntegers(samples.subarray(start, start + PIECE)));
      progress(Math.min(1, (start + PIECE) / samples.length));
    }
    await session.finish();
    if (session.failure !== undefined) throw new Error(session.failure);
  })();
  return { done, stop: () => { isStopped = true; session?.close(); } };
}

async function decode(file) {
  try {
    const context = new OfflineAudioContext(1, 1, RATE);
    const audio = await context.decodeAudioData(await file.arrayBuffer());
    return mix(audio);
  } catch {
    return null;
  }
}

function mix(audio) {
  const mixed = audio.getChannelData(0).slice();
  for (let channel = 1; channel < audio.numberOfChannels; channel++) {
    const samples = audio.getChannelData(channel);
    for (let n = 0; n < mixed.length; n++) mixed[n] += samples[n];
  }
  if (audio.numberOfChannels > 1) for (let n = 0; n < mixed.length; n++) mixed[n] /= audio.numberOfChannels;
  return mixed;
}

function toIntegers(samples) {
  return Int16Array.from(samples, (sample) => Math.max(-1, Math.min(1, sample)) * 32767);
}

async function upload(file, hear) {
  const form = new FormData();
  form.set("file", file);
  form.set("model", "whisper-1");
  form.set("response_format", "verbose_json");
  const response = await request("/v1/audio/transcriptions", { method: "POST", body: form });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error.message);
  for (const segment of answer.segments) {
    hear({ type: "final", segment: segment.id, text: segment.text.trim(), start_s: segment.start, end_s: segment.end }, 0);
  }
}

// The browser's microphone in pieces of 100 ms, as 16-bit samples.

const WANTED = {
  channelCount: { ideal: 1 },
  // Made for telephony: they take away what a recogniser listens to.
  echoCancellation: false,
  noiseSuppression: false,
  autoGainControl: true,
};

export function canRecord() {
  return window.isSecureContext && navigator.mediaDevices !== undefined && window.AudioWorkletNode !== undefined;
}

export class Microphone {
  /** Ask for the microphone; hear is called with (samples, peak) ten times a second, lose when it is unplugged. */
  static async open(hear, lose) {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: WANTED });
    const context = await openContext(stream);
    await context.audioWorklet.addModule("/page/microphone-worklet.js");
    const recorder = new AudioWorkletNode(context, "recorder", { numberOfOutputs: 0 });
    recorder.port.onmessage = ({ data }) => hear(data.samples, data.peak);
    context.createMediaStreamSource(stream).connect(recorder);
    stream.getAudioTracks()[0].addEventListener("ended", lose);
    await context.resume();
    return new Microphone(stream, context);
  }

  constructor(stream, context) {
    this.stream = stream;
    this.context = context;
    this.name = stream.getAudioTracks()[0].label;
  }

  get sampleRate() { return this.context.sampleRate; }

  close() {
    for (const track of this.stream.getTracks()) track.stop();
    this.context.close();
  }
}

// The models' rate, so that less goes over the network; some browsers refuse to mix rates, and the daemon takes any.
async function openContext(stream) {
  const context = new AudioContext({ sampleRate: 16000 });
  try {
    context.createMediaStreamSource(stream).disconnect();
    return context;
  } catch {
    await context.close();
    return new AudioContext();
  }
}

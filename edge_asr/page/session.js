// One session over the native protocol: hello, audio, events, end. Audio that comes before the daemon is ready waits,
// so that the first word is not lost; a session that breaks off is followed by another.

import { openSocket } from "./access.js";

const RETRY_MS = [300, 1000, 2000, 5000];
const MOST_WAITING_S = 10;
const BUFFERED_BYTES = 1 << 18; // more than this in the socket, and a recording waits

export class Session {
  /**
   * @param options of the hello
   * @param hear called with (event, offset_s): times of the event count from offset_s
   * @param say called with a sentence about the connection, "" when there is nothing to say
   */
  constructor(options, hear, say) {
    this.options = { encoding: "s16le", channels: 1, words: false, ...options };
    this.hear = hear;
    this.say = say;
    this.waiting = [];
    this.isReady = false;
    this.isFinished = false;
    this.attempts = 0;
    this.sentSamples = 0;
    this.offset = 0;
    this.ended = new Promise((resolve) => { this.resolveEnded = resolve; });
    this.connect();
  }

  get sampleRate() { return this.options.sample_rate_hz; }

  /** Samples (Int16Array) of a microphone; never waits. */
  send(samples) {
    if (this.isFinished) return;
    if (this.isReady) this.pass(samples);
    else this.hold(samples);
  }

  /** Samples of a recording; resolves when more may come. */
  async sendSlowly(samples) {
    while (!this.isReady || this.socket.bufferedAmount > BUFFERED_BYTES) {
      if (this.isOver) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    this.pass(samples);
  }

  /** No more audio; resolves when everything that was said is there. */
  finish() {
    if (!this.isFinished) {
      this.isFinished = true;
      if (this.isReady) this.socket.send('{"type":"finish"}');
      else if (this.waiting.length === 0) this.close();
    }
    return this.ended;
  }

  close() {
    this.isFinished = this.isOver = true;
    this.socket.close();
    this.resolveEnded();
  }

  connect() {
    this.socket = openSocket("/v1/stream");
    this.socket.onopen = () => this.socket.send(JSON.stringify({ type: "hello", ...this.options }));
    this.socket.onmessage = (message) => this.take(JSON.parse(message.data));
    this.socket.onclose = () => this.lose();
  }

  take(event) {
    if (event.type === "ready") this.begin();
    else if (event.type === "ended") this.close();
    else if (event.type === "failed" && !event.is_retryable) {
      this.failure = event.message;
      this.say(event.message);
    } else if (event.type === "failed") this.say(event.message);
    else this.hear(event, this.offset);
  }

  begin() {
    this.isReady = true;
    this.attempts = 0;
    this.offset = this.sentSamples / this.sampleRate;
    this.say("");
    for (const samples of this.waiting.splice(0)) this.pass(samples);
    if (this.isFinished) this.socket.send('{"type":"finish"}');
  }

  lose() {
    this.isReady = false;
    if (this.isOver) return;
    if (this.failure !== undefined || this.isFinished) {
      this.isOver = true;
      this.resolveEnded();
      return;
    }
    this.say("The connection is lost; trying again…");
    setTimeout(() => this.isOver || this.connect(), RETRY_MS[Math.min(this.attempts++, RETRY_MS.length - 1)]);
  }

  pass(samples) {
    this.sentSamples += samples.length;
    this.socket.send(samples);
  }

  hold(samples) {
    this.waiting.push(samples);
    let held = this.waiting.reduce((sum, piece) => sum + piece.length, 0);
    while (held > MOST_WAITING_S * this.sampleRate) {
      const dropped = this.waiting.shift().length;
      held -= dropped;
      this.sentSamples += dropped;
    }
  }
}

// Runs on the browser's audio thread: gathers 100 ms, counts in 16 bits, hands over.

class Recorder extends AudioWorkletProcessor {
  constructor() {
    super();
    this.piece = new Int16Array(Math.round(sampleRate / 10));
    this.filled = 0;
    this.peak = 0;
  }

  process([input]) {
    const samples = input[0];
    if (samples === undefined) return true;
    for (const sample of samples) {
      this.peak = Math.max(this.peak, Math.abs(sample));
      this.piece[this.filled++] = Math.max(-1, Math.min(1, sample)) * 32767;
      if (this.filled === this.piece.length) this.handOver();
    }
    return true;
  }

  handOver() {
    this.port.postMessage({ samples: this.piece, peak: this.peak }, [this.piece.buffer]);
    this.piece = new Int16Array(Math.round(sampleRate / 10));
    this.filled = 0;
    this.peak = 0;
  }
}

registerProcessor("recorder", Recorder);

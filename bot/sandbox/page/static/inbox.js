// Frames in their order, never overtaken by a read: what arrives while something is being read waits until it was
// shown. Otherwise an answer from before a message would wipe that message away again.

export class Inbox {
  constructor(take) {
    this.take = take;
    this.reads = 0;
    this.waiting = [];
  }

  hear(frame) {
    if (this.reads) this.waiting.push(frame);
    else this.take(frame);
  }

  async during(read) {
    this.reads += 1;
    try {
      return await read();
    } finally {
      this.reads -= 1;
      this.release();
    }
  }

  // A frame may itself begin a read; those after it wait for that one too.
  release() {
    while (!this.reads && this.waiting.length) this.take(this.waiting.shift());
  }
}

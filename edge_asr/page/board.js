// The microphone of the machine that the daemon runs on: we only read along.

import { openSocket } from "./access.js";

const RETRY_MS = 2000;

/** Follow it; hear is called with every event. Returns how to stop. */
export function followBoard(hear, say) {
  let socket = null;
  let isOver = false;
  const connect = () => {
    socket = openSocket("/v1/mic");
    socket.onopen = () => say("");
    socket.onmessage = (message) => hear(JSON.parse(message.data));
    socket.onclose = () => {
      if (isOver) return;
      say("The connection is lost; trying again…");
      setTimeout(() => isOver || connect(), RETRY_MS);
    };
  };
  connect();
  return () => { isOver = true; socket.close(); };
}

// The token, where the daemon needs one: kept for this tab only, sent as a header, or, since a browser lets no page set
// headers of a websocket, as a subprotocol.

const KEY = "edge-asr-token";
const SUBPROTOCOL = "edge-asr";

let token = sessionStorage.getItem(KEY) ?? "";
let asking = null;

/** Like fetch, with the token; asks for it, and tries again, for as long as the daemon wants another one. */
export async function request(path, options = {}) {
  for (;;) {
    const used = token;
    const headers = { ...options.headers, ...(used ? { Authorization: `Bearer ${used}` } : {}) };
    const response = await fetch(path, { ...options, headers, cache: "no-store" });
    if (response.status !== 401) return response;
    if (token === used) await ask(used !== "");
  }
}

/** A websocket of this daemon. */
export function openSocket(path) {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const offers = token ? [SUBPROTOCOL, `bearer.${base64url(token)}`] : [SUBPROTOCOL];
  const socket = new WebSocket(`${scheme}://${location.host}${path}`, offers);
  socket.binaryType = "arraybuffer";
  return socket;
}

function ask(wasWrong) {
  asking ??= new Promise((resolve) => {
    const dialog = document.getElementById("token-dialog");
    const input = document.getElementById("token");
    document.getElementById("token-wrong").textContent = wasWrong ? "The daemon does not know this token." : "";
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => {
      token = input.value.trim();
      sessionStorage.setItem(KEY, token);
      asking = null;
      resolve();
    }, { once: true });
    dialog.showModal();
    input.select();
  });
  return asking;
}

function base64url(text) {
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// The sounds of a theme, one for each tone, and the switch that turns them off.
import { fileOf, list, text } from "./look.js";
import { recall, remember } from "./memory.js";

const button = document.getElementById("sound");
const sounds = new Map();
let isOn = recall("sound") !== false;
// Browsers play nothing until somebody has touched the page, unless they are started for a kiosk.
let isRefused = false;
let labels = {};

button.onclick = () => {
  // While sounds are refused the switch stands at off, and this click is what lifts the refusal.
  isOn = isRefused || !isOn;
  isRefused = false;
  remember("sound", isOn);
  if (!isOn) for (const sound of sounds.values()) sound.pause();
  draw();
};

for (const touch of ["pointerdown", "keydown"]) {
  addEventListener(touch, (event) => {
    if (!isRefused || button.contains(event.target)) return;
    isRefused = false;
    draw();
  });
}

function draw() {
  const isHeard = isOn && !isRefused;
  const label = text(isHeard ? labels.soundOff : labels.soundOn);
  button.hidden = sounds.size === 0;
  button.classList.toggle("silent", !isHeard);
  button.setAttribute("aria-label", label);
  button.title = label;
}

// Loads the sounds of a theme ahead, so that none is late.
export function tune(theme, words) {
  labels = words;
  for (const sound of sounds.values()) sound.pause();
  sounds.clear();
  for (const tone of list(theme.sounds)) {
    const sound = new Audio(fileOf(theme, `/theme/sounds/${encodeURIComponent(tone)}`));
    sound.preload = "auto";
    sounds.set(tone, sound);
  }
  draw();
}

export function play(tone) {
  const sound = sounds.get(tone);
  if (!sound || !isOn) return;
  for (const other of sounds.values()) if (!other.paused) other.pause();
  sound.currentTime = 0;
  sound.play().catch((error) => {
    if (error.name !== "NotAllowedError") return;
    isRefused = true;
    draw();
  });
}

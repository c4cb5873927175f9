// What the browser keeps for the next time the page is loaded. Without storage nothing is kept.

export function recall(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

export function remember(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A browser may refuse all storage, or be out of room.
  }
}

// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system says, until the reader chooses.
const KEY = "ttmem-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function chosen(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // a page from file:// may have no storage
  }
}

function apply(): void {
  const theme = chosen();
  document.documentElement.dataset.theme = theme === "light" || theme === "dark" ? theme : system.matches ? "dark" : "light";
}

// Paper is light whatever the screen is.
export function watchTheme(changed: () => void): void {
  apply();
  const follow = (): void => {
    apply();
    changed();
  };
  system.addEventListener("change", follow);
  window.addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
    changed();
  });
  window.addEventListener("afterprint", follow);
}

export function toggleTheme(changed: () => void): void {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // the choice lasts as long as the page
  }
  changed();
}

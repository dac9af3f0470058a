// Light and dark: as the system has it, or as was chosen; runs before the page is drawn.

(() => {
  const KEY = "nqe-theme";
  const system = matchMedia("(prefers-color-scheme: dark)");
  const current = () => localStorage.getItem(KEY) ?? (system.matches ? "dark" : "light");

  function apply() {
    document.documentElement.dataset.theme = current();
    document.getElementById("theme")?.setAttribute("aria-pressed", String(current() === "dark"));
  }

  apply();
  system.addEventListener("change", apply);
  addEventListener("DOMContentLoaded", () => {
    apply();
    document.getElementById("theme").addEventListener("click", () => {
      localStorage.setItem(KEY, current() === "dark" ? "light" : "dark");
      apply();
    });
  });
})();

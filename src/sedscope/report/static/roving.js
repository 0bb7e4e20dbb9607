// Many elements as one stop of the tab key: arrow keys go from one to another.

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// Gives the function to call when the elements have been made anew.
export function roving(holder, selector) {
  const all = () => [...holder.querySelectorAll(selector)];
  const settle = () => {
    const elements = all();
    const stop = elements.find((one) => one === document.activeElement) || elements[0];
    for (const one of elements) one.setAttribute("tabindex", one === stop ? 0 : -1);
  };
  holder.addEventListener("focusin", settle);
  holder.addEventListener("keydown", (event) => {
    const at = document.activeElement;
    if (!(event.key in WAYS) || !at.matches(selector)) return;
    event.preventDefault();
    const [across, down] = WAYS[event.key];
    const next = down ? nearest(at, all(), down) : all()[all().indexOf(at) + across];
    if (next) next.focus();
  });
  settle();
  return settle;
}

// In the next line up or down, the one that is closest.
function nearest(at, elements, down) {
  const place = (one) => {
    const box = one.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  const [x, y] = place(at);
  const found = elements.map((one) => ({ one, to: place(one) }))
    .map(({ one, to }) => ({ one, away: down * (to[1] - y), aside: Math.abs(to[0] - x) }))
    .filter(({ away }) => away > 4).sort((a, b) => a.away - b.away || a.aside - b.aside);
  return found.length ? found[0].one : null;
}

// Arrow keys move the focus between many elements, and the tab key stops only once at all of them.

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// Returns the function to call after the elements have been replaced.
export function addArrowKeys(container, selector) {
  const all = () => [...container.querySelectorAll(selector)];
  const update = () => {
    const elements = all();
    const reachable = elements.find((element) => element === document.activeElement) || elements[0];
    for (const element of elements) element.setAttribute("tabindex", element === reachable ? 0 : -1);
  };
  container.addEventListener("focusin", update);
  container.addEventListener("keydown", (event) => {
    const focused = document.activeElement;
    if (!(event.key in DIRECTIONS) || !focused.matches(selector)) return;
    event.preventDefault();
    const [across, down] = DIRECTIONS[event.key];
    const next = down ? nearestInNextRow(focused, all(), down) : all()[all().indexOf(focused) + across];
    if (next) next.focus();
  });
  update();
  return update;
}

// The closest element in the next row down (1) or up (-1).
function nearestInNextRow(focused, elements, direction) {
  const centre = (element) => {
    const box = element.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  const [x, y] = centre(focused);
  const candidates = elements.map((element) => ({ element, to: centre(element) }))
    .map(({ element, to }) => ({ element, rows: direction * (to[1] - y), columns: Math.abs(to[0] - x) }))
    .filter(({ rows }) => rows > 4).sort((a, b) => a.rows - b.rows || a.columns - b.columns);
  return candidates.length ? candidates[0].element : null;
}

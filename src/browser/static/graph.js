/*
 * Zooms and moves the graph of a workflow. Without it the graph scrolls.
 */
(() => {
  'use strict';

  const frame = document.querySelector('[data-graph]');
  if (!frame?.querySelector('.graph')) return;

  const STEP = 1.25;
  const [LEAST, MOST] = [0.2, 3];
  /** Least zoom at which the page opens: smaller names cannot be read. */
  const READABLE = 0.8;
  const key = `graph ${location.pathname}`;
  const kept = sessionStorage.getItem(key);
  const view = { zoom: 1, left: 0, top: 0, ...JSON.parse(kept ?? '{}') };
  const region = () => frame.querySelector('.graph');

  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);

  /** The page draws the region again when the run goes on: the style sheet keeps the zoom. */
  function show() {
    sheet.replaceSync(`.graph svg { zoom: ${Number(view.zoom)} }`);
    const { left, top } = view;
    region()?.scrollTo({ left, top, behavior: 'instant' });
    sessionStorage.setItem(key, JSON.stringify(view));
  }

  /** Keeps the middle of the region in its place. */
  function zoomTo(zoom) {
    const { clientWidth, clientHeight, scrollLeft, scrollTop } = region();
    const next = Math.min(MOST, Math.max(LEAST, zoom));
    const along = (start, size) => ((start + size / 2) * next) / view.zoom - size / 2;
    view.left = along(scrollLeft, clientWidth);
    view.top = along(scrollTop, clientHeight);
    view.zoom = next;
    show();
  }

  function fit(least = LEAST) {
    const { width, height } = region().querySelector('svg').viewBox.baseVal;
    const { clientWidth, clientHeight } = region();
    zoomTo(Math.max(least, Math.min(1, (clientWidth - 20) / width, (clientHeight - 20) / height)));
  }

  const button = (text, label, act) => {
    const made = document.createElement('button');
    Object.assign(made, { type: 'button', className: 'small', textContent: text });
    made.setAttribute('aria-label', label);
    made.addEventListener('click', act);
    return made;
  };
  const tools = document.createElement('div');
  tools.className = 'actions';
  tools.append(
    button('−', 'Zoom out', () => zoomTo(view.zoom / STEP)),
    button('+', 'Zoom in', () => zoomTo(view.zoom * STEP)),
    button('Fit', 'Fit the graph', () => fit()),
  );
  frame.querySelector('.line').append(tools);

  frame.addEventListener(
    'scroll',
    ({ target }) => {
      if (target !== region()) return;
      Object.assign(view, { left: target.scrollLeft, top: target.scrollTop });
      sessionStorage.setItem(key, JSON.stringify(view));
    },
    true,
  );
  frame.addEventListener('wheel', zoomByWheel, { passive: false });
  function zoomByWheel(event) {
    if (!(event.ctrlKey || event.metaKey) || !event.target.closest('.graph')) return;
    event.preventDefault();
    zoomTo(view.zoom * (event.deltaY < 0 ? STEP : 1 / STEP));
  }

  /** A finger scrolls by itself; a mouse drags what is no link. */
  frame.addEventListener('pointerdown', (event) => {
    const box = event.target.closest('.graph');
    if (!box || event.pointerType !== 'mouse' || event.target.closest('a, button')) return;
    const move = ({ movementX, movementY }) => box.scrollBy(-movementX, -movementY);
    const end = () => document.removeEventListener('pointermove', move);
    document.addEventListener('pointermove', move);
    document.addEventListener('pointerup', end, { once: true });
    document.addEventListener('pointercancel', end, { once: true });
  });
  frame.addEventListener('keydown', ({ key: pressed, target }) => {
    if (target !== region()) return;
    if (pressed === '+') zoomTo(view.zoom * STEP);
    if (pressed === '-') zoomTo(view.zoom / STEP);
  });

  new MutationObserver(show).observe(frame, { childList: true, subtree: true });
  if (kept) show();
  else fit(READABLE);
})();

/*
 * Zooms and drags the graph of a workflow. Without this script the graph scrolls.
 */
(() => {
  'use strict';

  const frame = document.querySelector('[data-graph]');
  if (!frame?.querySelector('.graph')) return;

  const STEP = 1.25;
  const [MIN_ZOOM, MAX_ZOOM] = [0.2, 3];
  /** Minimum zoom when the page opens: smaller names are unreadable. */
  const READABLE = 0.8;
  const storageKey = `graph ${location.pathname}`;
  const stored = sessionStorage.getItem(storageKey);
  const view = { zoom: 1, left: 0, top: 0, ...JSON.parse(stored ?? '{}') };
  const region = () => frame.querySelector('.graph');

  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);

  /** Sets the zoom in a style sheet, because live updates replace the region. */
  function show() {
    sheet.replaceSync(`.graph svg { zoom: ${Number(view.zoom)} }`);
    const { left, top } = view;
    region()?.scrollTo({ left, top, behavior: 'instant' });
    sessionStorage.setItem(storageKey, JSON.stringify(view));
  }

  /** Zooms around the center of the region. */
  function zoomTo(zoom) {
    const { clientWidth, clientHeight, scrollLeft, scrollTop } = region();
    const next = Math.min(MAX_ZOOM, Math.max(MIN_ZOOM, zoom));
    const scrollOffset = (start, size) => ((start + size / 2) * next) / view.zoom - size / 2;
    view.left = scrollOffset(scrollLeft, clientWidth);
    view.top = scrollOffset(scrollTop, clientHeight);
    view.zoom = next;
    show();
  }

  function fit(min = MIN_ZOOM) {
    const { width, height } = region().querySelector('svg').viewBox.baseVal;
    const { clientWidth, clientHeight } = region();
    zoomTo(Math.max(min, Math.min(1, (clientWidth - 20) / width, (clientHeight - 20) / height)));
  }

  const button = (text, label, onClick) => {
    const element = document.createElement('button');
    Object.assign(element, { type: 'button', className: 'small', textContent: text });
    element.setAttribute('aria-label', label);
    element.addEventListener('click', onClick);
    return element;
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
      sessionStorage.setItem(storageKey, JSON.stringify(view));
    },
    true,
  );
  frame.addEventListener('wheel', zoomByWheel, { passive: false });
  function zoomByWheel(event) {
    if (!(event.ctrlKey || event.metaKey) || !event.target.closest('.graph')) return;
    event.preventDefault();
    zoomTo(view.zoom * (event.deltaY < 0 ? STEP : 1 / STEP));
  }

  /** Drags with the mouse, except on links and buttons. Touch scrolls natively. */
  frame.addEventListener('pointerdown', (event) => {
    const box = event.target.closest('.graph');
    if (!box || event.pointerType !== 'mouse' || event.target.closest('a, button')) return;
    const move = ({ movementX, movementY }) => box.scrollBy(-movementX, -movementY);
    const end = () => document.removeEventListener('pointermove', move);
    document.addEventListener('pointermove', move);
    document.addEventListener('pointerup', end, { once: true });
    document.addEventListener('pointercancel', end, { once: true });
  });
  frame.addEventListener('keydown', ({ key, target }) => {
    if (target !== region()) return;
    if (key === '+') zoomTo(view.zoom * STEP);
    if (key === '-') zoomTo(view.zoom / STEP);
  });

  new MutationObserver(show).observe(frame, { childList: true, subtree: true });
  if (stored) show();
  else fit(READABLE);
})();

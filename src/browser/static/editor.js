/*
 * Editor of YAML and JSON documents over a text area, which forms go on to send. The build bundles this
 * file with CodeMirror and with the YAML reader of the server.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, HighlightStyle, indentOnInput } from '@codemirror/language';
import { syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { exactJson, parseExact } from 'exact-json';
import { stringify } from 'yaml';
import { readAllYaml } from 'yaml-reader';

const LIMITS = { aliases: 100, depth: 100, length: 1_000_000 };

const COLORS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--key)' },
  { tag: [tags.string, tags.special(tags.string), tags.content], color: 'var(--string)' },
  { tag: tags.number, color: 'var(--number)' },
  { tag: [tags.bool, tags.null, tags.keyword, tags.labelName], color: 'var(--word)' },
  { tag: [tags.comment, tags.meta], color: 'var(--muted)' },
]);

const THEME = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'transparent', maxHeight: '60vh' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'inherit', lineHeight: '1.5', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)', minHeight: 'var(--least, 9em)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--muted)',
    borderRight: '1px solid var(--line)',
  },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection': {
    backgroundColor: 'var(--tint) !important',
  },
  '.cm-matchingBracket': { backgroundColor: 'var(--tint) !important' },
});

const isJson = (text) => /^\s*[[{]/.test(text);

/** @throws Error where the text cannot be converted without a loss */
function converted(text) {
  if (isJson(text)) {
    const exact = exactJson(parseExact(text));
    if (JSON.stringify(JSON.parse(text)) !== exact) throw new Error(LOSS);
    const result = stringify(JSON.parse(text), { version: '1.1', lineWidth: 0 });
    if (jsonOf(result) !== exact) throw new Error(LOSS);
    return result;
  }
  const found = jsonOf(text);
  const value = JSON.parse(found);
  return JSON.stringify(value) === found ? JSON.stringify(value, null, 2) : found;
}

const LOSS = 'it has values that the other format writes differently';

function jsonOf(text) {
  const [{ json: found, error }] = readAllYaml({ texts: [text], limits: LIMITS });
  if (error !== undefined) throw new Error(error);
  return found;
}

/** Replaces a text area by an editor; the text area stays what the form sends. */
export function edit(area) {
  const label = area.labels[0]?.textContent.trim() ?? '';
  const frame = document.createElement('div');
  frame.className = 'editor';
  // In a shadow tree CodeMirror adopts its style sheets, which the policy of the pages permits.
  const root = frame.attachShadow({ mode: 'open' });
  const language = new Compartment();
  const kindOf = (text) => (area.dataset.check === 'json' || isJson(text) ? json : yaml);
  let kind = kindOf(area.value);
  const hadFocus = document.activeElement === area;
  let isOwn = false;

  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: area.value,
      selection: { anchor: area.selectionStart, head: area.selectionEnd },
      extensions: [
        lineNumbers(),
        history(),
        indentOnInput(),
        bracketMatching(),
        EditorView.lineWrapping,
        EditorState.tabSize.of(2),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        language.of(kind()),
        syntaxHighlighting(COLORS),
        THEME,
        EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) send(state.doc.toString());
        }),
        EditorView.domEventHandlers({
          blur: () => area.dispatchEvent(new Event('change', { bubbles: true })),
        }),
      ],
    }),
  });

  function send(text) {
    if (kind !== kindOf(text)) {
      kind = kindOf(text);
      view.dispatch({ effects: language.reconfigure(kind()) });
    }
    if (area.value === text) return;
    isOwn = true;
    area.value = text;
    area.dispatchEvent(new Event('input', { bubbles: true }));
    isOwn = false;
  }

  const show = (text) => {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  };
  area.addEventListener('input', () => {
    if (!isOwn && area.value !== view.state.doc.toString()) show(area.value);
  });
  for (const one of area.labels) {
    one.addEventListener('click', (event) => {
      event.preventDefault();
      view.focus();
    });
  }
  area.before(frame);
  area.classList.add('hidden');
  area.tabIndex = -1;
  area.setAttribute('aria-hidden', 'true');
  if (area.dataset.check === 'yaml') frame.after(...formatSwitch(area, show));
  if (hadFocus) view.focus();
}

/**
 * Button that converts the document between JSON and YAML, and the place for its error; pressed again,
 * the button brings back the text.
 */
function formatSwitch(area, show) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'small' });
  const error = document.createElement('output');
  error.className = 'errors';
  const look = () => {
    button.textContent = isJson(area.value) ? 'Show as YAML' : 'Show as JSON';
    error.textContent = '';
  };
  let former = { text: '', shown: null };
  button.addEventListener('click', () => {
    const text = area.value;
    try {
      const next = former.shown === text ? former.text : converted(text);
      former = { text, shown: next };
      show(next);
    } catch ({ message }) {
      error.textContent = `Not converted: ${message}`;
    }
  });
  area.addEventListener('input', look);
  look();
  return [button, error];
}

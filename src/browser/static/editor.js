/*
 * YAML and JSON editor over a text area, which the form still submits. The build bundles this file with
 * CodeMirror and the YAML reader of the server.
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
  { tag: [tags.bool, tags.null, tags.keyword, tags.labelName], color: 'var(--keyword)' },
  { tag: [tags.comment, tags.meta], color: 'var(--muted)' },
]);

const THEME = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'transparent', maxHeight: '60vh' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'inherit', lineHeight: '1.5', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)', minHeight: '9em' },
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

/** @throws Error for invalid text, or if the other format cannot represent a value exactly */
function convert(text) {
  if (isJson(text)) {
    const exact = exactJson(parseExact(text));
    if (JSON.stringify(JSON.parse(text)) !== exact) throw new Error(LOSS);
    const result = stringify(JSON.parse(text), { version: '1.1', lineWidth: 0 });
    if (jsonOf(result) !== exact) throw new Error(LOSS);
    return result;
  }
  const exact = jsonOf(text);
  const value = JSON.parse(exact);
  return JSON.stringify(value) === exact ? JSON.stringify(value, null, 2) : exact;
}

const LOSS = 'the other format cannot represent some values exactly';

function jsonOf(text) {
  const [{ json: result, error }] = readAllYaml({ texts: [text], limits: LIMITS });
  if (error !== undefined) throw new Error(error);
  return result;
}

/** Replaces a text area with an editor. The form still submits the text area. */
export function edit(area) {
  const label = area.labels[0]?.textContent.trim() ?? '';
  const frame = document.createElement('div');
  frame.className = 'editor';
  // In a shadow tree, CodeMirror uses adopted style sheets, which the content security policy permits.
  const root = frame.attachShadow({ mode: 'open' });
  const language = new Compartment();
  const kindOf = (text) => (area.dataset.check === 'json' || isJson(text) ? json : yaml);
  let kind = kindOf(area.value);
  const hadFocus = document.activeElement === area;
  let isUpdating = false;

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
          if (docChanged) updateArea(state.doc.toString());
        }),
        EditorView.domEventHandlers({
          blur: () => area.dispatchEvent(new Event('change', { bubbles: true })),
        }),
      ],
    }),
  });

  function updateArea(text) {
    if (kind !== kindOf(text)) {
      kind = kindOf(text);
      view.dispatch({ effects: language.reconfigure(kind()) });
    }
    if (area.value === text) return;
    isUpdating = true;
    area.value = text;
    area.dispatchEvent(new Event('input', { bubbles: true }));
    isUpdating = false;
  }

  const replaceText = (text) => {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  };
  area.addEventListener('input', () => {
    if (!isUpdating && area.value !== view.state.doc.toString()) replaceText(area.value);
  });
  for (const element of area.labels) {
    element.addEventListener('click', (event) => {
      event.preventDefault();
      view.focus();
    });
  }
  area.before(frame);
  area.classList.add('hidden');
  area.tabIndex = -1;
  area.setAttribute('aria-hidden', 'true');
  if (area.dataset.check === 'yaml') frame.after(...formatSwitch(area, replaceText));
  if (hadFocus) view.focus();
}

/**
 * Returns a button that converts the document between JSON and YAML, and the element for its error. A
 * second click restores the original text.
 */
function formatSwitch(area, replaceText) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'small' });
  const error = document.createElement('output');
  error.className = 'errors';
  const updateButton = () => {
    button.textContent = isJson(area.value) ? 'Show as YAML' : 'Show as JSON';
    error.textContent = '';
  };
  let previous = { text: '', shown: null };
  button.addEventListener('click', () => {
    const text = area.value;
    try {
      const next = previous.shown === text ? previous.text : convert(text);
      previous = { text, shown: next };
      replaceText(next);
    } catch ({ message }) {
      error.textContent = `Not converted: ${message}`;
    }
  });
  area.addEventListener('input', updateButton);
  updateButton();
  return [button, error];
}

/** Reads pages as the server sends them, without a browser. */
import type { ApiClient } from '../support/client.js';

/** Returns the HTML of a page after redirects, whatever its status is. */
export async function htmlOf(caller: ApiClient, path: string): Promise<string> {
  const { text } = await caller.get(path).set('Accept', 'text/html').redirects(3);
  return text;
}

/** The options of a select by its id. */
export function optionsOf(html: string, id: string): { value: string; label: string }[] {
  const select = new RegExp(`<select\\b[^>]*\\sid="${id}"[^>]*>(.*?)</select>`, 's').exec(
    html,
  )?.[1];
  return [...(select ?? '').matchAll(/<option\b([^>]*)>([^<]*)/g)].map(
    ([, attributes = '', label = '']) => ({
      value: /\bvalue="([^"]*)"/.exec(attributes)?.[1] ?? label.trim(),
      label: decoded(label).trim(),
    }),
  );
}

/** Elements for programs, or not shown at all. */
const NO_WORDS = /<(head|pre|code|option|textarea|script)\b.*?<\/\1>/gs;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/** Replaces the entities of HTML. */
export const decoded = (text: string): string =>
  text
    .replace(/&#(\d+);/g, (_all, code) => String.fromCodePoint(Number(code)))
    .replace(/&(\w+);/g, (all, name: string) => ENTITIES[name] ?? all);

/** The texts of a page for people, one for each run of text between tags. */
export const wordsOf = (html: string): string[] =>
  html
    .replace(NO_WORDS, '')
    .split(/<[^>]*>/)
    .map((text) => decoded(text).replace(/\s+/g, ' ').trim())
    .filter((text) => text !== '');

/** The text of the first element that `start` matches, up to the end of that element's tag name. */
export function textIn(html: string, start: RegExp): string {
  const found = start.exec(html);
  const name = /^<(\w+)/.exec(found?.[0] ?? '')?.[1];
  if (!found || name === undefined) return '';
  const rest = html.slice(found.index + found[0].length);
  return wordsOf(rest.slice(0, rest.indexOf(`</${name}>`))).join(' ');
}

import type { PlainRequest } from '../../common/http/request.js';

/** Starts the names of parameters that begin the form of a page: `?_with.name=Nightly`. */
export const PRESET = '_with.';
const presets = new WeakMap<object, Readonly<Record<string, string>>>();

/** What the link to a page says that its form is to begin with, by field. */
export const presetsOf = (request: object): Readonly<Record<string, string>> =>
  presets.get(request) ?? {};

/** Takes them off the query: whatever reads that does not see them. */
export function takePresets(request: PlainRequest): void {
  const entries = Object.entries(request.query);
  const given = entries.filter(([key]) => key.startsWith(PRESET));
  if (given.length === 0) return;
  presets.set(
    request,
    Object.fromEntries(
      given.map(([key, value]) => [key.slice(PRESET.length), [value ?? []].flat().at(-1) ?? '']),
    ),
  );
  request.query = Object.fromEntries(entries.filter(([key]) => !key.startsWith(PRESET)));
}

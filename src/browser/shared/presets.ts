import type { PlainRequest } from '../../common/http/request.js';

/** Starts the names of parameters that begin the form of a page: `?_with.name=Nightly`. */
export const PRESET = '_with.';
const presets = new WeakMap<object, Readonly<Record<string, string>>>();

/** Returns the initial values of a form that the link to its page sets, by field. */
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

import type { PlainRequest } from '../../common/http/request.js';

/** Prefix of query parameters with initial values of a form: `?_with.name=Nightly`. */
export const PRESET = '_with.';
const presets = new WeakMap<object, Readonly<Record<string, string>>>();

/** Returns the initial values of a form from the query, by field. */
export const presetsOf = (request: object): Readonly<Record<string, string>> =>
  presets.get(request) ?? {};

/** Moves the presets out of the query, so that other handlers do not read them. */
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

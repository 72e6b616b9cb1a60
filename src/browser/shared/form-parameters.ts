import type { PlainRequest } from '../../common/http/request.js';

/** Query parameter that shows a form of the URL instead of its page, by method: `?_form=patch`. */
const FORM = '_form';
/** Prefix of query parameters with initial values of a form: `?_with.name=Nightly`. */
export const PRESET = '_with.';
const initialValues = new WeakMap<object, Readonly<Record<string, string>>>();
const forms = new WeakMap<object, string>();

/** Returns the URL of the form that sends a method to a path. */
export const formUrl = (path: string, method: string): string => `${path}?${FORM}=${method}`;

/** Returns the method of the form that the page shows, or null for the page of the URL. */
export const formMethodOf = (request: object): string | null => forms.get(request) ?? null;

/** Returns the initial values of a form from the query, by field. */
export const initialValuesOf = (request: object): Readonly<Record<string, string>> =>
  initialValues.get(request) ?? {};

/** Moves the parameters of forms out of the query, so that other handlers do not read them. */
export function takeFormParameters(request: PlainRequest): void {
  const { [FORM]: form, ...query } = request.query;
  if (form !== undefined) {
    forms.set(request, String(form).toUpperCase());
    request.query = query;
  }
  const entries = Object.entries(query);
  const initial = entries.filter(([key]) => key.startsWith(PRESET));
  if (initial.length === 0) return;
  initialValues.set(
    request,
    Object.fromEntries(
      initial.map(([key, value]) => [key.slice(PRESET.length), [value ?? []].flat().at(-1) ?? '']),
    ),
  );
  request.query = Object.fromEntries(entries.filter(([key]) => !key.startsWith(PRESET)));
}

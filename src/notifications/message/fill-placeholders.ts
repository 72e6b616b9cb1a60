const PLACEHOLDER = /\{\{ ([a-z_]+(?:\.[a-z_]+)*) \}\}/g;

/**
 * Fills the `{{ path }}` placeholders of the built-in default texts. It supports no other syntax,
 * cannot fail and needs no sandbox, so a default text can always be sent. Missing values become "".
 * With `json`, values are escaped for use inside a JSON string.
 */
export function fillPlaceholders(
  text: string,
  context: Readonly<Record<string, unknown>>,
  escape: 'none' | 'json' = 'none',
): string {
  return text.replace(PLACEHOLDER, (_match, path: string) => {
    const value = toText(valueAt(context, path.split('.')));
    return escape === 'json' ? JSON.stringify(value).slice(1, -1) : value;
  });
}

function valueAt(context: unknown, path: readonly string[]): unknown {
  let value = context;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null;
    value = Reflect.get(value, key);
  }
  return value;
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

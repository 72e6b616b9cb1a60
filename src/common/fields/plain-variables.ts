/**
 * One line of the plainest YAML there is: a word, and a word, an IPv4 address or a short whole
 * number. Nothing in it can be an anchor, a tag, a quote, a comment, a date or a float.
 */
const LINE = /^(\w+): (?:([A-Za-z_][\w./@:-]*)|(\d{1,3}(?:\.\d{1,3}){3})|(0|[1-9]\d{0,14}))$/;
const KEY = /^[A-Za-z_]/;
/** Words that YAML 1.1 reads as something else than a text. */
const NO_TEXT = /^(?:yes|no|on|off|true|false|null)$/i;

/**
 * Reads variables that are one `key: value` a line, which those of hosts mostly are, ten times as
 * fast as a parser of all of YAML. What it reads, it reads as `parseVariables` does; null for
 * everything else, also for what is wrong: the parser then says what.
 */
export function parsePlainVariables(text: string): Record<string, unknown> | null {
  const variables: Record<string, unknown> = {};
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) {
    const [, key = '', word, address, number] = LINE.exec(line) ?? [];
    if (!KEY.test(key) || NO_TEXT.test(key) || key === '__proto__') return null;
    if (word !== undefined && (NO_TEXT.test(word) || word.endsWith(':'))) return null;
    if (Object.hasOwn(variables, key)) return null;
    variables[key] = word ?? address ?? Number(number);
  }
  return lines.length > 0 ? variables : null;
}

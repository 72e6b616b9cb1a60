const paint = (code) => (text) => (process.stdout.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text);
const bold = paint('1');
const dim = paint('2');
const green = paint('32');
const red = paint('31');

const print = (line = '') => process.stdout.write(`${line}\n`);
let steps = 0;

export const heading = (text) => print(`\n${bold(text)}`);

/** Prints the title of the next step. */
export function step(text) {
  steps += 1;
  print(`\n${bold(`${steps}. ${text}`)}`);
}

/** Prints the request that a user would send, as a curl command. */
export function request(method, path, body, headers = {}) {
  const parts = ['curl -sS'];
  if (method !== 'GET') parts.push(`-X ${method}`);
  for (const [name, value] of Object.entries(headers)) parts.push(`-H '${name}: ${value}'`);
  if (body !== undefined) parts.push(`-d '${shorten(body)}'`);
  print(dim(`   $ ${parts.join(' ')} "$URL${path}"`));
}

export const note = (text) => print(`   ${text}`);
export const done = (text) => print(`   ${green('✓')} ${text}`);

export function fail(text) {
  print(`\n${red('✗')} ${text}`);
  process.exitCode = 1;
}

/** Ends the demo with an error unless the condition is true. */
export function expect(condition, text) {
  if (!condition) throw new Error(text);
}

function shorten(body) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return text.length > 200 ? `${text.slice(0, 160)}… (${text.length} bytes)` : text;
}

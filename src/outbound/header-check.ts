import { OutboundError } from './outbound-error.js';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Control characters except tab. They split or truncate a header line for some peers. */
const FORBIDDEN_IN_VALUE = /[\u0000-\u0008\u000a-\u001f\u007f]/;
/** Characters outside Latin-1. A header contains bytes, and the HTTP client rejects other characters. */
const BEYOND_A_BYTE = /[^\u0000-\u00ff]/;

/** Headers of the connection or the framing, which only the HTTP client sets. */
const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Returns true if the text contains a line break or NUL, which could inject protocol lines. */
export function hasLineBreak(text: string): boolean {
  return /[\r\n\0]/.test(text);
}

/** Returns the reason why a header must not be sent, or null. */
export function faultOfHeader(name: string, value: string): string | null {
  if (!TOKEN.test(name)) return `"${name.slice(0, 40)}" is not a valid header name`;
  if (FRAMING_HEADERS.has(name.toLowerCase())) return `the header ${name} cannot be set`;
  if (FORBIDDEN_IN_VALUE.test(value)) return `the value of header ${name} has control characters`;
  if (BEYOND_A_BYTE.test(value)) return `the value of header ${name} is not Latin-1 text`;
  return null;
}

/** @throws OutboundError `invalid` for the first header that must not be sent */
export function assertHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const fault = faultOfHeader(name, value);
    if (fault) throw new OutboundError('invalid', `Request refused: ${fault}.`);
  }
}

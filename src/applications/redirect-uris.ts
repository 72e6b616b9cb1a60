const WEB = new Set(['http:', 'https:']);

/**
 * Parses redirect URIs, separated by spaces. Accepts http, https, and schemes of native apps, which
 * contain a dot (RFC 8252, section 7.1). A fragment is not permitted (RFC 6749, section 3.1.2).
 */
export function redirectUrisOf(text: string): { uris: string[]; fault: string | null } {
  const uris = text.split(/\s+/).filter((uri) => uri !== '');
  const wrong = uris.find((uri) => !isRedirectUri(uri));
  const fault = wrong === undefined ? null : `"${wrong}" is not a URL that users can return to.`;
  return { uris, fault };
}

function isRedirectUri(uri: string): boolean {
  if (!URL.canParse(uri) || uri.includes('#')) return false;
  const { protocol, username, password } = new URL(uri);
  return username + password === '' && (WEB.has(protocol) || protocol.includes('.'));
}

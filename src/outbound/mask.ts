import { decodedPart } from '../common/fields/text.js';

const STARS = '***';
/**
 * Minimum length of a first path segment that is considered a token rather than a word such as `hooks`.
 */
const TOKEN_LENGTH = 20;

/**
 * Returns a URL that is safe to display: user information, everything after the first path segment, and
 * the query are replaced, because the URLs of chat hooks contain secrets there. A text that is not a URL
 * becomes `***`.
 */
export function maskUrl(text: string): string {
  if (!URL.canParse(text)) return STARS;
  const url = new URL(text);
  if (!url.host) return STARS;
  const user = url.username || url.password ? `${STARS}@` : '';
  const [first = '', ...rest] = url.pathname.slice(1).split('/');
  const firstSegment = first.length >= TOKEN_LENGTH ? STARS : first;
  const tail = rest.some((segment) => segment !== '') ? `/${STARS}` : '';
  return `${url.protocol}//${user}${url.host}/${firstSegment}${tail}${url.search ? `?${STARS}` : ''}`;
}

/**
 * Replaces each secret by stars and each URL by its masked form, for texts from outside (responses of
 * services, errors of libraries), before they are stored or shown.
 */
export function maskText(text: string, secrets: readonly string[] = []): string {
  let masked = text.replace(/\bhttps?:\/\/[^\s"'<>]+/gi, (url) => maskUrl(url));
  // Longest first: a secret can contain another one.
  for (const secret of secrets.toSorted((left, right) => right.length - left.length)) {
    if (secret !== '') masked = masked.replaceAll(secret, STARS);
  }
  return masked;
}

/**
 * Minimum length of a secret part of a URL. Shorter parts are ordinary words, and masking them would
 * garble texts.
 */
const PIECE_LENGTH = 6;

/**
 * Returns the parts of a URL that `maskUrl` hides, for texts that quote them without the rest of the URL,
 * such as a response that contains the request path.
 */
export function secretsInUrl(text: string): string[] {
  if (!URL.canParse(text)) return [text];
  const { pathname, search, searchParams, username, password } = new URL(text);
  const [first = '', ...rest] = pathname.slice(1).split('/');
  const pieces = [
    ...rest,
    ...(first.length >= TOKEN_LENGTH ? [first] : []),
    search.slice(1),
    ...searchParams.values(),
    username,
    password,
  ];
  const variants = pieces.flatMap((piece) => [piece, decodedPart(piece)]);
  return [...new Set(variants)].filter((piece) => piece.length >= PIECE_LENGTH);
}

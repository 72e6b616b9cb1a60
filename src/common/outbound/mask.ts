const STARS = '***';
/** A first path segment this long is a token rather than a word such as `hooks`. */
const TOKEN_LENGTH = 20;

/**
 * A URL fit for display: user information, everything after the first path segment and the query
 * are replaced, because chat hooks carry their secret there. Text that is no URL becomes `***`.
 */
export function maskUrl(text: string): string {
  if (!URL.canParse(text)) return STARS;
  const url = new URL(text);
  if (!url.host) return STARS;
  const user = url.username || url.password ? `${STARS}@` : '';
  const [first = '', ...rest] = url.pathname.slice(1).split('/');
  const shown = first.length >= TOKEN_LENGTH ? STARS : first;
  const tail = rest.some((segment) => segment !== '') ? `/${STARS}` : '';
  return `${url.protocol}//${user}${url.host}/${shown}${tail}${url.search ? `?${STARS}` : ''}`;
}

/**
 * Replaces each secret by stars and each URL by its masked form; for texts that come from outside
 * (answers of services, errors of libraries) before they are stored or shown.
 */
export function maskText(text: string, secrets: readonly string[] = []): string {
  let masked = text.replace(/\bhttps?:\/\/[^\s"'<>]+/gi, (url) => maskUrl(url));
  // The longest first: a secret may contain another one.
  for (const secret of secrets.toSorted((left, right) => right.length - left.length)) {
    if (secret !== '') masked = masked.replaceAll(secret, STARS);
  }
  return masked;
}

/** Shorter pieces of a URL are words rather than secrets, and starring them would garble a text. */
const PIECE_LENGTH = 6;

/**
 * The parts of a URL that `maskUrl` hides, one by one, for texts that quote them without the rest of
 * it: a service that answers with the path it was called by.
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
  const forms = pieces.flatMap((piece) => [piece, decoded(piece)]);
  return [...new Set(forms)].filter((piece) => piece.length >= PIECE_LENGTH);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

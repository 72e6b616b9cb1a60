import type { ServerMetadata } from 'openid-client';
import { OutboundError } from '../outbound/outbound-error.js';
import { isRecord, listOf, memberOf, textMember } from '../common/records.js';
import type { Claims } from './external-rights.js';

/** Entries per page. A team takes up to 4 KB, and a response has at most 64 KB. */
const PAGE_SIZE = 10;
const MAX_PAGES = 30;

/** Reads a path of the API, such as `/user`. */
export type ReadPath = (path: string) => Promise<unknown>;

/** Returns the address of the API of GitHub, of GitHub Enterprise Cloud or of a GitHub Enterprise Server. */
export function apiOf(baseUrl: string): string {
  const { protocol, host, hostname } = new URL(baseUrl);
  return hostname === 'github.com' || hostname.endsWith('.ghe.com')
    ? `${protocol}//api.${host}`
    : `${protocol}//${host}/api/v3`;
}

export const TOKEN_PATH = '/login/oauth/access_token';

/** Returns the endpoints of GitHub as metadata of an OpenID Connect provider. */
export function githubMetadata(baseUrl: string): ServerMetadata {
  const { origin } = new URL(baseUrl);
  return {
    issuer: `${origin}/login/oauth`,
    authorization_endpoint: `${origin}/login/oauth/authorize`,
    token_endpoint: origin + TOKEN_PATH,
  };
}

/**
 * Returns the claims of the account of a token: claims of OpenID Connect, `organizations`, and
 * `teams` as `organization/team`. The email is the primary address if GitHub has verified it.
 *
 * @throws OutboundError for an unexpected response
 */
export async function githubClaims(read: ReadPath): Promise<Claims> {
  const user = await read('/user');
  const id = memberOf(user, 'id');
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id <= 0) throw unexpected('/user');
  const [given_name = '', ...family] = textMember(user, 'name').split(' ');
  const emails = listOf(await read('/user/emails')).filter(isRecord);
  const email = emails.find(({ primary, verified }) => primary === true && verified === true);
  return {
    sub: String(id),
    preferred_username: textMember(user, 'login'),
    given_name,
    family_name: family.join(' '),
    email: textMember(email, 'email'),
    organizations: (await pagesOf(read, '/user/orgs')).map((org) => textMember(org, 'login')),
    teams: (await pagesOf(read, '/user/teams')).map(
      (team) =>
        `${textMember(memberOf(team, 'organization'), 'login')}/${textMember(team, 'slug')}`,
    ),
  };
}

/** Reads all pages of a list, because a `deny` map could match a missing entry. */
async function pagesOf(read: ReadPath, path: string): Promise<unknown[]> {
  const entries: unknown[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const found = await read(`${path}?per_page=${PAGE_SIZE}&page=${page}`);
    if (!Array.isArray(found)) throw unexpected(path);
    entries.push(...listOf(found));
    if (found.length < PAGE_SIZE) return entries;
  }
  throw new OutboundError('too_large', `The list ${path} is too long.`);
}

/** Returns the error for a response that GitHub would not send. */
export const unexpected = (path: string): OutboundError =>
  new OutboundError('invalid', `The response to ${path} is not in the format of GitHub.`);

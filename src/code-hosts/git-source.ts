import { decodedPart } from '../common/fields/text.js';

/** Error for an invalid address, branch or refspec of a project. `message` can be shown to the user. */
export class GitSourceError extends Error {
  override readonly name = 'GitSourceError';
}

/** Validated address without secrets. */
export interface GitSource {
  /** URL for git. Only ssh addresses keep the user name. */
  readonly url: string;
  readonly scheme: string;
  /** `host` or `host:port`; empty for local folders. */
  readonly host: string;
  readonly username: string;
  readonly password: string;
}

const CONTROL = /[\u0000-\u0020\u007F]/;
const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;
const SCP_FORM = /^(?:([\w.-]+)@)?(\[[0-9a-f:.]+\]|[\w.-]+):(?!\/\/|:)(.+)$/i;
const BAD_REF = /[\u0000-\u0020\u007F~^:?*[\\]|\.\.|@\{|\/\/|\.lock(\/|$)|^[-/.]|[/.]$/;
const REFSPEC_SIDE = /^(?!-)[\w./*-]+$/;

/** Scheme in the setting for addresses of local folders without a scheme. */
const LOCAL_SCHEME = 'file';

/**
 * Validates a project's address against the schemes that the setting permits.
 *
 * @throws GitSourceError
 */
export function parseGitSource(url: string, allowedSchemes: Iterable<string>): GitSource {
  const source = readUrl(url);
  if (!new Set(allowedSchemes).has(source.scheme)) {
    throw new GitSourceError(`Git URLs with the scheme "${source.scheme}" are not allowed.`);
  }
  // ssh interprets a host or user that begins with a dash as an option.
  if (source.host.startsWith('-') || source.username.startsWith('-')) {
    throw new GitSourceError('Invalid git URL.');
  }
  return source;
}

/** Returns true for an address with a password, which every reader of the address could see. */
export function holdsPassword(address: string): boolean {
  const text = address.trim();
  if (!SCHEME.test(text)) return /^[^/@:]*:[^/@]*@/.test(text);
  return URL.canParse(text) && new URL(text).password !== '';
}

/**
 * Returns true if an archive or a Subversion repository can be fetched by a scheme. The address guard
 * checks the connections of HTTP; Subversion can also read local repositories.
 */
export const isImportable = (kind: string, scheme: string): boolean =>
  ['http', 'https'].includes(scheme) || (kind === 'svn' && scheme === LOCAL_SCHEME);

/** Returns the host without its port; an IPv6 address keeps its brackets. */
export const hostnameOf = ({ host }: Pick<GitSource, 'host'>): string => host.replace(/:\d+$/, '');

/**
 * Validates a branch, tag or commit name.
 *
 * @throws GitSourceError for names that git would reject or interpret as an option or range
 */
export function checkRef(name: string): string {
  if (name === '' || name.length > 1024 || BAD_REF.test(name) || name === '@') {
    throw new GitSourceError(`"${printable(name)}" is not a valid branch, tag or commit.`);
  }
  return name;
}

/**
 * Validates the refspecs of a project, separated by whitespace or commas.
 *
 * @throws GitSourceError
 */
export function parseRefspecs(text: string): string[] {
  const refspecs = text.split(/[\s,]+/).filter((part) => part !== '');
  for (const refspec of refspecs) {
    const sides = refspec.replace(/^\+/, '').split(':');
    const isValid =
      sides.length <= 2 && sides.every((side) => REFSPEC_SIDE.test(side) && !side.includes('..'));
    if (!isValid) throw new GitSourceError(`"${printable(refspec)}" is not a valid refspec.`);
  }
  return refspecs;
}

function readUrl(url: string): GitSource {
  if (url === '' || url.startsWith('-') || CONTROL.test(url))
    throw new GitSourceError('Invalid git URL.');
  if (SCHEME.test(url)) return readStandardUrl(url);
  if (url.startsWith('/'))
    return { url, scheme: LOCAL_SCHEME, host: '', username: '', password: '' };
  const match = SCP_FORM.exec(url);
  // Every other text with a colon, such as `ext::`, names a helper program.
  if (!match) throw new GitSourceError('Invalid git URL.');
  const [, username = '', host = ''] = match;
  return { url, scheme: 'ssh', host, username, password: '' };
}

function readStandardUrl(text: string): GitSource {
  if (!URL.canParse(text)) throw new GitSourceError('Invalid git URL.');
  const parsed = new URL(text);
  const scheme = parsed.protocol.slice(0, -1);
  const username = decodedPart(parsed.username);
  const password = decodedPart(parsed.password);
  parsed.password = '';
  if (scheme !== 'ssh') parsed.username = '';
  const isLocal = scheme === LOCAL_SCHEME;
  if (isLocal ? parsed.host !== '' : parsed.host === '')
    throw new GitSourceError('Invalid git URL.');
  return { url: isLocal ? text : parsed.href, scheme, host: parsed.host, username, password };
}

function printable(text: string): string {
  return text.replace(/[^\x21-\x7E]/g, '?').slice(0, 100);
}

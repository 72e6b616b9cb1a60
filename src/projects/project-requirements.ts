import { createHmac } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { RunnerError } from '../runs/runner-error.js';
import { resolveInside } from './project-files.js';

/** What a file of requirements names. */
export type ContentKind = 'roles' | 'collections' | 'both';

/** A file of a project that names the roles and collections it needs. */
export interface RequirementFile {
  /** Relative to the project. */
  readonly path: string;
  readonly kind: ContentKind;
  readonly text: string;
}

/** A server that content is asked of; empty texts are not set. */
export interface GalaxyServer {
  readonly url: string;
  readonly authUrl: string;
  readonly token: string;
}

/** What content is made of: with the same of all, it is the same. */
export interface ContentSource {
  readonly organization: number;
  readonly files: readonly RequirementFile[];
  readonly servers: readonly GalaxyServer[];
  /** Commit of the project. */
  readonly revision: string;
}

const PLACES: readonly (readonly [path: string, kind: ContentKind])[] = [
  ['roles/requirements', 'roles'],
  ['collections/requirements', 'collections'],
  ['requirements', 'both'],
];
const ENDINGS = ['.yml', '.yaml'];
const MAX_BYTES = 1024 * 1024;

/** Words of requirements that lie in the project itself, or may; one too many only costs an installation. */
const OF_PROJECT =
  /\.tar\.gz|\binclude\b|\btype\s*:\s*['"]?(?:file|dir|subdirs)\b|[:-]\s+['"]?\.{0,2}\//;

/** The requirements of a project, in the order in which they are installed. @throws RunnerError */
export async function readRequirements(projectDir: string): Promise<RequirementFile[]> {
  const places = PLACES.flatMap(([name, kind]) =>
    ENDINGS.map((ending) => ({ path: name + ending, kind })),
  );
  const read = await Promise.all(
    places.map(async ({ path, kind }) => {
      const file = await resolveInside(projectDir, path).catch(() => null);
      if (file === null) return [];
      if ((await stat(file)).size > MAX_BYTES) {
        throw new RunnerError(`${path} is larger than ${MAX_BYTES} bytes.`);
      }
      return [{ path, kind, text: await readFile(file, 'utf8') }];
    }),
  );
  return read.flat();
}

/** The name of content by what it is made of; it tells nothing of the tokens in it without the key. */
export function contentDigest({ revision, ...source }: ContentSource, key: string): string {
  const isOfProject = source.files.some(({ text }) => OF_PROJECT.test(text));
  const made = JSON.stringify({ ...source, revision: isOfProject ? revision : '' });
  return createHmac('sha256', key).update(made).digest('hex').slice(0, 40);
}

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

/** Everything content is made of: equal sources have equal content. */
export interface ContentSource {
  readonly organization: number;
  readonly files: readonly RequirementFile[];
  readonly servers: readonly GalaxyServer[];
  /** Project and commit; they count only where the project itself holds content. */
  readonly project: number;
  readonly revision: string;
}

const PLACES: readonly (readonly [path: string, kind: ContentKind])[] = [
  ['roles/requirements', 'roles'],
  ['collections/requirements', 'collections'],
  ['requirements', 'both'],
];
const ENDINGS = ['.yml', '.yaml'];
const MAX_BYTES = 1024 * 1024;

/**
 * Words of requirements that name content of the project itself. A word too many costs an installation
 * of the project's own; content that no word announces is not found, because the project is not there.
 */
const OF_PROJECT =
  /\.tar\.gz|\binclude\b|\btype\s*:\s*['"]?(?:file|dir|subdirs)\b|\bfile:|[:-]\s+['"]?\.{0,2}\//;

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

/** Returns whether requirements name content of the project, which only its own runs may use. */
export const needsProject = (files: readonly RequirementFile[]): boolean =>
  files.some(({ text }) => OF_PROJECT.test(text));

/** Returns the name of content by its source; without the key it tells nothing of the tokens in it. */
export function contentDigest(
  { project, revision, ...source }: ContentSource,
  key: string,
): string {
  const own = needsProject(source.files) ? { project, revision } : {};
  const made = JSON.stringify({ ...source, ...own });
  return createHmac('sha256', key).update(made).digest('hex').slice(0, 40);
}

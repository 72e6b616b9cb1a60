import { createHmac } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { RunnerError } from '../runs/runner-error.js';
import { resolveInside } from './project-files.js';

/** Kind of content in a requirements file. */
export type ContentKind = 'roles' | 'collections' | 'both';

/** A requirements file with the roles and collections that a project needs. */
export interface RequirementFile {
  /** Path relative to the project. */
  readonly path: string;
  readonly kind: ContentKind;
  readonly text: string;
}

/** A Galaxy server; empty strings mean that a value is not set. */
export interface GalaxyServer {
  readonly url: string;
  readonly authUrl: string;
  readonly token: string;
}

/** All values that determine installed content: equal sources have equal content. */
export interface ContentSource {
  readonly organization: number;
  readonly files: readonly RequirementFile[];
  readonly servers: readonly GalaxyServer[];
  /** Project and commit, which are only relevant if requirements refer to content of the project. */
  readonly project: number;
  readonly revision: string;
  /** Id of the image whose programs install the content; absent: the programs of the worker. */
  readonly image?: string;
}

const PLACES: readonly (readonly [path: string, kind: ContentKind])[] = [
  ['roles/requirements', 'roles'],
  ['collections/requirements', 'collections'],
  ['requirements', 'both'],
];
const ENDINGS = ['.yml', '.yaml'];
const MAX_BYTES = 1024 * 1024;

/**
 * Patterns of requirements that refer to content in the project itself. After a false match, the project
 * does not share its installed content. Without a match, the installation does not find content of the
 * project, because the project is not visible during the installation.
 */
const PROJECT_CONTENT =
  /\.tar\.gz|\binclude\b|\btype\s*:\s*['"]?(?:file|dir|subdirs)\b|\bfile:|[:-]\s+['"]?\.{0,2}\//;

/**
 * Returns the requirements of a project, in the order of their installation.
 *
 * @throws RunnerError for a file that is too large
 */
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

/**
 * Returns true if requirements refer to content of the project. Only runs of the same project can use
 * this content.
 */
export const needsProject = (files: readonly RequirementFile[]): boolean =>
  files.some(({ text }) => PROJECT_CONTENT.test(text));

/**
 * Returns the name of installed content: a keyed digest of its source. The key protects the tokens that
 * are part of the source.
 */
export function contentDigest(
  { project, revision, ...source }: ContentSource,
  key: string,
): string {
  const projectSource = needsProject(source.files) ? { project, revision } : {};
  const text = JSON.stringify({ ...source, ...projectSource });
  return createHmac('sha256', key).update(text).digest('hex').slice(0, 40);
}

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns the nearest folder above this file with a `package-lock.json`, else the current folder. */
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package-lock.json'))) {
    const parent = dirname(folder);
    if (parent === folder) return process.cwd();
    folder = parent;
  }
  return folder;
}

export const PACKAGE_FOLDER = packageFolder();

function versionOf(description: unknown): string {
  const isNamed =
    typeof description === 'object' && description !== null && 'version' in description;
  return isNamed ? String(description.version) : 'unknown';
}

/** Version of the product, from package.json. */
export const VERSION = versionOf(
  JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'package.json'), 'utf8')),
);

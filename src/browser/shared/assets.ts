import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NextFunction, Request, Response } from 'express';
import { PACKAGE_FOLDER } from '../../config/version.js';
import { entryOf } from '../../common/invariants.js';
import { ansiColors } from './ansi-colors.js';

/** Folder to which `npm run build` copies the files. */
const FOLDER = join(PACKAGE_FOLDER, 'dist', 'static');
const TYPES = new Map([
  ['css', 'text/css; charset=utf-8'],
  ['js', 'text/javascript; charset=utf-8'],
  ['svg', 'image/svg+xml'],
]);
const YEAR_SECONDS = 31_536_000;

/** Name of the computed style sheet. */
const COLORS = 'ansi-colors.css';

/** Served files: the files of `src/browser/static`, and the computed style sheet. */
const NAMES = [
  COLORS,
  'controller.css',
  'panels.css',
  'explorer.css',
  'controller.js',
  'forms.js',
  'editor.js',
  'graph.js',
  'live.js',
  'output.js',
  'favicon.svg',
] as const;
type AssetName = (typeof NAMES)[number];

interface Asset {
  content: Buffer;
  type: string;
  /** Path with a digest of the content, so that browsers may cache the file permanently. */
  url: string;
}

let loaded: Map<AssetName, Asset> | undefined;

function assets(): Map<AssetName, Asset> {
  loaded ??= new Map(NAMES.map((name) => [name, load(name)]));
  return loaded;
}

function load(name: AssetName): Asset {
  const content = name === COLORS ? Buffer.from(ansiColors()) : readFileSync(join(FOLDER, name));
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 12);
  const [stem = '', extension = ''] = name.split('.');
  const type = entryOf(TYPES, extension);
  return { content, type, url: `/static/${stem}.${digest}.${extension}` };
}

export const assetUrl = (name: AssetName): string => entryOf(assets(), name).url;

/**
 * Express handler for `/static`. Browsers cache a URL with the current digest for a year. They
 * revalidate a URL with the plain name, which documents without access to the digest use.
 */
export function serveAssets(request: Request, response: Response, next: NextFunction): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    next();
    return;
  }
  const url = `/static${request.path}`;
  for (const [name, asset] of assets()) {
    const current = asset.url === url;
    if (!current && url !== `/static/${name}`) continue;
    response.setHeader('Content-Type', asset.type);
    response.setHeader(
      'Cache-Control',
      current ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
    );
    response.removeHeader('Vary');
    response.send(asset.content);
    return;
  }
  next();
}

import { chmod, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PulledImages } from './pulled-images.js';

const DAY_MS = 86_400_000;

let folder: string;
let images: PulledImages;

/** Container engine whose images are files, and which refuses to remove the image `busy`. */
const ENGINE = `#!/bin/sh
case "$1" in
  image) cd "$(dirname "$0")/store" && test -f "$5" && echo "$5 sha256:x" ;;
  rmi) cd "$(dirname "$0")/store" && test "$2" != busy && rm "$2" ;;
esac
`;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'images-'));
  await mkdir(join(folder, 'store'));
  await writeFile(join(folder, 'engine'), ENGINE);
  await chmod(join(folder, 'engine'), 0o755);
  images = new PulledImages(join(folder, 'data'), 30 * DAY_MS);
});
afterEach(() => rm(folder, { recursive: true }));

async function pulled(id: string, days: number): Promise<void> {
  await writeFile(join(folder, 'store', id), '');
  await images.recordPull({ id: `sha256:${id}`, digest: '' });
  const then = new Date(Date.now() - days * DAY_MS);
  await utimes(join(folder, 'data', 'images', id), then, then);
}

it('the cleanup removes pulled images that were not used for the retention time', async () => {
  const engine = { engine: join(folder, 'engine'), isPodman: true };
  await writeFile(join(folder, 'store', 'operator'), '');
  await pulled('old', 31);
  await pulled('new', 29);
  await pulled('used', 31);
  await pulled('busy', 31);
  await pulled('gone', 31);
  await rm(join(folder, 'store', 'gone'));
  await images.recordUse({ id: 'sha256:used', digest: '' });
  await images.recordUse({ id: 'sha256:operator', digest: '' });
  await images.removeUnused(engine);
  expect((await readdir(join(folder, 'store'))).toSorted()).toEqual([
    'busy',
    'new',
    'operator',
    'used',
  ]);
  expect((await readdir(join(folder, 'data', 'images'))).toSorted()).toEqual([
    'busy',
    'new',
    'used',
  ]);
});

it('the cleanup continues if another cleanup removes an image meanwhile', async () => {
  const engine = join(folder, 'other');
  const removal = 'case "$1" in rmi) rm -f "$(dirname "$0")"/data/images/* ;; *) exit 1 ;; esac';
  await writeFile(engine, `#!/bin/sh\n${removal}\n`, { mode: 0o755 });
  for (const id of ['one', 'two', 'three']) await pulled(id, 31);
  await images.removeUnused({ engine, isPodman: true });
  expect(await readdir(join(folder, 'data', 'images'))).toEqual([]);
});

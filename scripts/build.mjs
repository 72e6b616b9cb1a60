/**
 * `npm run build`: compiles `src` and `migrations` to `dist`, and bundles each program with its packages
 * into one file: `dist/main.js` (API), `dist/worker.js`, `dist/cli.js` and the threads they start,
 * `dist/threads/*.js`. A bundle starts in half the time of a thousand modules. The modules stay in
 * `dist/src`, where tests that call the product in their own process import them. With `--without-programs` only
 * the threads are bundled, for tests that start no program of the product.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { compileFolder } from './services/compile.mjs';
import { BUILD_STAMP, sourceHash } from './services/packages.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');

/** Optional imports of Nest that are not installed; Nest reports a missing package when it needs the package. */
const NOT_INSTALLED = [
  '@fastify/static',
  '@nestjs/microservices',
  '@nestjs/microservices/*',
  '@nestjs/platform-socket.io',
  'class-transformer/storage',
];

/**
 * Removes the `require` that two packages of Nest create, so that the bundler finds the modules they load, and a
 * bundle does not load a second copy of TypeORM and of class-validator.
 *
 * @type {import('esbuild').Plugin}
 */
const bundledRequires = {
  name: 'bundled-requires',
  setup({ onLoad }) {
    onLoad({ filter: /@nestjs\/(typeorm|mapped-types)\/.*\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace(
        'const require = createRequire(import.meta.url);',
        '',
      ),
    }));
  },
};

// Computed before the compiler reads the sources: a source that changes during the build is built again next
// time.
const hash = sourceHash(root);
mkdirSync(dist, { recursive: true });
rmSync(join(root, BUILD_STAMP), { force: true });

for (const folder of ['src', 'migrations']) await compileFolder(root, folder);
cpSync(join(root, 'src', 'openapi', 'examples.json'), join(dist, 'examples.json'));
cpSync(join(root, 'src', 'browser', 'static'), join(dist, 'static'), { recursive: true });
await bundle(threads(), 'threads');
await bundleEditor();
if (!process.argv.includes('--without-programs')) {
  await bundle(
    ['main', 'worker', 'cli'].map((name) => join('src', `${name}.js`)),
    '',
  );
  writeFileSync(join(root, BUILD_STAMP), `${hash}\n`);
}

/**
 * @param {readonly string[]} programs modules below `dist`
 * @param {string} folder for the bundles, below `dist`
 */
async function bundle(programs, folder) {
  await build({
    entryPoints: programs.map((program) => ({
      in: join(dist, program),
      out: basename(program).replace(/(\.thread)?\.js$/, ''),
    })),
    outdir: join(dist, folder),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // CommonJS packages load the modules of Node by `require`.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);",
    },
    // `swagger-ui-dist` serves the files in its own folder.
    external: ['swagger-ui-dist', ...NOT_INSTALLED],
    plugins: [bundledRequires],
    // Names of classes are used as names of errors, providers and entities.
    keepNames: true,
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  });
}

/** Bundles the editor of the pages with its packages and with the YAML reader of the server. */
async function bundleEditor() {
  await build({
    entryPoints: [join(root, 'src', 'browser', 'static', 'editor.js')],
    outfile: join(dist, 'static', 'editor.js'),
    alias: {
      'exact-json': join(dist, 'src', 'common', 'exact-json.js'),
      'yaml-reader': join(dist, 'src', 'common', 'fields', 'yaml-reader.js'),
    },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  });
}

/** Returns the paths below `dist` of the modules that run in a worker thread. */
function threads() {
  return readdirSync(join(dist, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.thread.js'))
    .map((path) => join('src', path));
}

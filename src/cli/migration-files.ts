import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_FOLDER } from '../config/version.js';
import { openDataSource } from './migrate.js';

/**
 * Returns the statements that would bring the database to the declared schema; empty if there is no
 * difference.
 */
async function schemaDifference(): Promise<{ up: string[]; down: string[] }> {
  const source = await openDataSource();
  try {
    const log = await source.driver.createSchemaBuilder().log();
    return {
      up: log.upQueries.map(({ query }) => query),
      down: log.downQueries.map(({ query }) => query).reverse(),
    };
  } finally {
    await source.destroy();
  }
}

/** Fails if the migrations do not produce the declared schema. */
export async function migrationCheck(): Promise<number> {
  const { up } = await schemaDifference();
  if (up.length === 0) return 0;
  process.stderr.write(`Migrations and declarations differ:\n${up.join('\n')}\n`);
  return 1;
}

/** Writes `migrations/<time>-<name>.ts` and adds the migration to the index. */
export async function migrationNew(argv: readonly string[]): Promise<number> {
  const [name] = argv;
  if (!name || !/^[a-z]+(-[a-z]+)*$/.test(name)) {
    process.stderr.write('Name the migration with words and dashes, e.g. add-labels.\n');
    return 2;
  }
  const { up, down } = await schemaDifference();
  if (up.length === 0) {
    process.stdout.write('nothing to migrate\n');
    return 0;
  }
  const time = Date.now();
  const className = classNameOf(name, String(time));
  const folder = join(PACKAGE_FOLDER, 'migrations');
  await writeFile(join(folder, `${time}-${name}.ts`), sourceOf(className, up, down));
  await writeIndex(folder);
  process.stdout.write(`wrote migrations/${time}-${name}.ts\n`);
  return 0;
}

const classNameOf = (name: string, time: string): string =>
  `${name.replace(/(^|-)([a-z])/g, (_all, _dash, letter: string) => letter.toUpperCase())}${time}`;

function sourceOf(className: string, up: readonly string[], down: readonly string[]): string {
  const statements = (list: readonly string[]): string =>
    list.map((query) => `    await runner.query(\`${query.replaceAll('`', '\\`')}\`);`).join('\n');
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ${className} implements MigrationInterface {
  name = '${className}';

  async up(runner: QueryRunner): Promise<void> {
${statements(up)}
  }

  async down(runner: QueryRunner): Promise<void> {
${statements(down)}
  }
}
`;
}

async function writeIndex(folder: string): Promise<void> {
  const files = (await readdir(folder)).filter((file) => /^\d+-.*\.ts$/.test(file)).sort();
  const entries = files.map((file) => {
    const [, time = '', name = ''] = /^(\d+)-(.*)\.ts$/.exec(file) ?? [];
    return { className: classNameOf(name, time), file: file.replace(/\.ts$/, '.js') };
  });
  const imports = entries.map(({ className, file }) => `import { ${className} } from './${file}';`);
  const names = entries.map(({ className }) => `  ${className},`);
  await writeFile(
    join(folder, 'index.ts'),
    `${imports.join('\n')}

/** Every migration, oldest first. Named imports, so that the compiled and the test run see the same. */
export const migrations = {
${names.join('\n')}
};
`,
  );
}

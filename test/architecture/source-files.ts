import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

import ts from 'typescript';

import { PACKAGE_FOLDER } from '../../src/config/version.js';

export interface SourceFile {
  /** Relative to the package, `src/teams/teams.module.ts`. */
  path: string;
  text: string;
  /** Files of ours it imports, relative to the package, and whether only for types. */
  imports: readonly { path: string; typeOnly: boolean }[];
  /** Names of packages it imports. */
  packages: readonly string[];
}

/** The files of each folder, parsed once for all spec files of a process. */
const filesOf = new Map<string, readonly SourceFile[]>();

/** Returns every TypeScript file below some folders of the package. */
export function sourceFiles(...folders: string[]): SourceFile[] {
  return folders.flatMap((folder) => {
    const known = filesOf.get(folder) ?? readFolder(folder);
    filesOf.set(folder, known);
    return known;
  });
}

function readFolder(folder: string): SourceFile[] {
  return readdirSync(join(PACKAGE_FOLDER, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(join(PACKAGE_FOLDER, folder, name)));
}

function read(file: string): SourceFile {
  const text = readFileSync(file, 'utf8');
  const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const statements = parsed.statements.filter(ts.isImportDeclaration);
  const targets = statements.map((statement) => ({
    target: (statement.moduleSpecifier as ts.StringLiteral).text,
    typeOnly: statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword,
  }));
  return {
    path: relative(PACKAGE_FOLDER, file),
    text,
    imports: targets
      .filter(({ target }) => target.startsWith('.'))
      .map(({ target, typeOnly }) => ({
        path: relative(PACKAGE_FOLDER, resolve(dirname(file), target)).replace(/\.js$/, '.ts'),
        typeOnly,
      })),
    packages: targets.map(({ target }) => target).filter((target) => !target.startsWith('.')),
  };
}

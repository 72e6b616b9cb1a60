/**
 * Comments and documents refer only to texts in the repository: cited headings and linked files exist, and
 * none cites the notes that preceded the contract.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

import { PACKAGE_FOLDER } from '../../src/config/version.js';

interface TextFile {
  /** Path relative to the package. */
  path: string;
  lines: readonly string[];
}

/** Returns every tracked file, and those that git would add: a new page is cited before its commit. */
function repositoryFiles(): TextFile[] {
  // The user that runs the tests may not own the repository.
  const git = ['-c', `safe.directory=${PACKAGE_FOLDER}`, 'ls-files', '-z', '-co'];
  const listed = execFileSync('git', [...git, '--exclude-standard'], {
    cwd: PACKAGE_FOLDER,
    encoding: 'utf8',
  });
  return listed
    .split('\0')
    .filter((path) => path !== '' && !OTHERS_TEXT.test(path) && isFile(path))
    .map((path) => ({ path, text: readFileSync(join(PACKAGE_FOLDER, path), 'utf8') }))
    .filter(({ text }) => !text.includes('\0'))
    .map(({ path, text }) => ({ path, lines: text.split('\n') }));
}

/** Texts of other authors, and generated texts whose sources are checked. */
const OTHERS_TEXT = /(^|\/)package-lock\.json$|^docs\/openapi\.json$|^LICENSE$/;

const isFile = (path: string): boolean => {
  const full = join(PACKAGE_FOLDER, path);
  return existsSync(full) && statSync(full).isFile();
};

const files = repositoryFiles();
const documents = files.filter(({ path }) => /^(?:\w+|docs\/.*)\.md$/.test(path));

/** Returns the anchors that code hosts give to headings. A repeated heading gets a number. */
function anchorsOf({ lines }: TextFile): Set<string> {
  const anchors = new Set<string>();
  const seen = new Map<string, number>();
  let isCode = false;
  for (const line of lines) {
    if (line.startsWith('```')) isCode = !isCode;
    const title = isCode ? undefined : /^#{1,6} +(.*?)\s*#*$/.exec(line)?.[1];
    if (title === undefined) continue;
    const anchor = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
    const earlier = seen.get(anchor) ?? 0;
    seen.set(anchor, earlier + 1);
    anchors.add(earlier === 0 ? anchor : `${anchor}-${earlier}`);
  }
  return anchors;
}

const anchors = new Map(documents.map((document) => [document.path, anchorsOf(document)]));

/** Returns the reason why a path with an optional `#anchor` does not exist, or null. */
function faultOf(target: string): string | null {
  const [path = '', anchor] = target.split('#', 2);
  if (!existsSync(join(PACKAGE_FOLDER, path))) return 'no such file';
  if (anchor === undefined || anchors.get(path)?.has(anchor)) return null;
  return 'no such heading';
}

interface Finding {
  where: string;
  what: string;
  fault: string;
}

/** Returns every match of a pattern in some files, with its fault. */
function findings(
  among: readonly TextFile[],
  pattern: RegExp,
  judge: (match: RegExpExecArray, file: TextFile) => string | null,
): Finding[] {
  return among.flatMap((file) =>
    file.lines.flatMap((line, index) =>
      [...line.matchAll(pattern)].flatMap((match) => {
        const fault = judge(match, file);
        const where = `${file.path}:${index + 1}`;
        return fault === null ? [] : [{ where, what: match[0], fault }];
      }),
    ),
  );
}

/** Patterns are composed of pieces, so that this file does not match itself. */
const OUTSIDE: readonly RegExp[] = [
  // "core 10.4", "automation 4.2", "design.md 6", "clients 2.1": chapters of notes.
  /(?<![\w/-])(?:core|automation|clients|inventories|platform|design|style|trust|house|speed)(?:\.md)?(?: section)? \d+(?:\.\d+)*(?![\w.]*\w)/gi,
  // "decision 12", "decisions 1, 2", "decision 11a": rows of a table outside of `docs/decisions`.
  /\bdecisions? \d+[a-z]?\b/gi,
  // "(R3)", "design rule R4": rules by number.
  /\(R\d\b|\bR\d[,)]|\b(?:design(?:\.md)?|rule) R\d\b/g,
  // "(N1)", "(W2)": demands by letter and number.
  /(?<= )\([NWB]\d\)/g,
  // "contract 4.7", "contract for clients", "contract/automation.md": files beside the project.
  /\bcontract \d+\.\d+|\bcontract for clients\b|(?<!docs\/)\bcontract\/(?:core|automation|inventories|platform|seed)\b/gi,
  // The document the contract was made from, other than the number a random test starts from.
  /(?<!\w)\(seed[,)]|\bseed's (?:\w+ )?(?:table|headers|object|rows?|statuses)|\bthe seed (?:names|shows|says|has|wants|lists|leaves)\b|\bof the seed\b/gi,
];

it('every cited page and heading of docs exists', () => {
  const cited = /(?<![\w/.-])docs\/[\w./-]+\.md(?:#[\w-]+)?/g;
  expect(findings(files, cited, ([target]) => faultOf(target))).toEqual([]);
});

it('every file that the documents name exists', () => {
  const named = /(?<=`)(?:src|test|scripts|deploy)\/[\w./-]+(?=`)/g;
  expect(findings(documents, named, ([path]) => faultOf(path))).toEqual([]);
});

it('every relative link of the documents leads somewhere', () => {
  const links = /\]\((?![a-z][a-z0-9+.-]*:)([^()\s]+)\)/g;
  const faults = findings(documents, links, ([, target = ''], { path }) => {
    const full = target.startsWith('#') ? path + target : join(dirname(path), target);
    return faultOf(normalize(full));
  });
  expect(faults).toEqual([]);
});

it('no file cites a text outside the repository', () => {
  const self = 'test/architecture/citations.spec.ts';
  const others = files.filter(({ path }) => path !== self);
  const faults = OUTSIDE.flatMap((pattern) =>
    findings(others, pattern, () => 'cites a text outside the repository'),
  );
  expect(faults).toEqual([]);
});

it('no heading of the contract is repeated on a page, so that every rule can be cited', () => {
  const pages = documents.filter(({ path }) => path.startsWith('docs/contract/'));
  const repeated = pages.flatMap(({ path, lines }) => {
    const titles = lines.filter((line) => /^#{1,6} /.test(line)).map((line) => line.toLowerCase());
    const twice = titles.filter((title, index) => titles.indexOf(title) < index);
    return twice.map((title) => `${path}: ${title}`);
  });
  expect(pages.length).toBeGreaterThan(10);
  expect(repeated).toEqual([]);
});

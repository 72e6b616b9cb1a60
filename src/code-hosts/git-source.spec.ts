import { checkRef, holdsPassword, parseGitSource, parseRefspecs } from './git-source.js';

const ALL = ['https', 'http', 'ssh', 'git', 'file'];

describe('parseGitSource', () => {
  it.each([
    [
      'https://code.example.org/a/b.git',
      'https://code.example.org/a/b.git',
      'https',
      'code.example.org',
      '',
      '',
    ],
    [
      'https://bob:p%40ss@code.example.org:8443/b',
      'https://code.example.org:8443/b',
      'https',
      'code.example.org:8443',
      'bob',
      'p@ss',
    ],
    [
      'ssh://git:x@code.example.org/b',
      'ssh://git@code.example.org/b',
      'ssh',
      'code.example.org',
      'git',
      'x',
    ],
    [
      'git@code.example.org:a/b.git',
      'git@code.example.org:a/b.git',
      'ssh',
      'code.example.org',
      'git',
      '',
    ],
    ['code.example.org:a/b.git', 'code.example.org:a/b.git', 'ssh', 'code.example.org', '', ''],
    ['/srv/repo', '/srv/repo', 'file', '', '', ''],
    ['file:///srv/repo', 'file:///srv/repo', 'file', '', '', ''],
  ])('reads %s', (text, url, scheme, host, username, password) => {
    expect(parseGitSource(text, ALL)).toEqual({ url, scheme, host, username, password });
  });

  it.each([
    '',
    'repo',
    '../repo',
    '-oProxyCommand=x',
    '--upload-pack=x',
    'ext::sh -c x',
    'ext::x',
    'fd::17',
    'https://a b/c',
    'file://host/x',
    'ssh://-oProxyCommand=x/y',
    'ssh://-oX@host/y',
    '-x@host:y',
    'https://a/\nb',
    'ftp://a/b',
    'ext://a',
  ])('refuses %j', (text) => {
    expect(() => parseGitSource(text, ALL)).toThrow(/Invalid git URL|are not allowed/);
  });

  it('accepts the allowed schemes only', () => {
    expect(() => parseGitSource('/srv/repo', ['https'])).toThrow('scheme "file" are not allowed');
    expect(() => parseGitSource('git@h:x', ['https'])).toThrow('scheme "ssh" are not allowed');
  });
});

describe('holdsPassword', () => {
  it.each([
    ['user:secret@host/x', true],
    ['user:secret@host:x', true],
    ['https://user:secret@host/x', true],
    ['git@host:x', false],
    ['host:x/a@b', false],
    ['user@host:x@y', false],
  ])('%s: %s', (address, holds) => {
    expect(holdsPassword(address)).toBe(holds);
  });

  it('takes a time that grows with the length only', () => {
    const start = performance.now();
    expect(holdsPassword(`${':'.repeat(131_000)}://`)).toBe(false);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});

describe('checkRef', () => {
  it.each(['main', 'feature/one', 'v1.2.3', 'a'.repeat(40), 'refs/pull/7/head', 'ünïcode', 'a@b'])(
    'accepts %j',
    (name) => expect(checkRef(name)).toBe(name),
  );

  it.each([
    '',
    '-x',
    '--all',
    'a..b',
    'a b',
    'a\nb',
    'a\0',
    'HEAD~1',
    'a^',
    'a:b',
    '@',
    '@{-1}',
    'a.lock',
    '/a',
    'a/',
    'a//b',
    'a*',
  ])('refuses %j', (name) => expect(() => checkRef(name)).toThrow('is not a valid'));
});

describe('parseRefspecs', () => {
  it.each([
    ['', []],
    ['+refs/pull/*:refs/remotes/origin/pull/*', ['+refs/pull/*:refs/remotes/origin/pull/*']],
    ['refs/a:refs/b, main', ['refs/a:refs/b', 'main']],
  ])('reads %j', (text, expected) => expect(parseRefspecs(text)).toEqual(expected));

  it.each(['--exec=x', 'a:b:c', '+-x', 'a:-x', 'a..b', 'a:', 'a$b'])('refuses %j', (text) => {
    expect(() => parseRefspecs(text)).toThrow('is not a valid refspec');
  });
});

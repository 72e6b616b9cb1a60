import { quoteArguments } from './ansible-arguments.js';
import { playbookArguments, type PlaybookRun } from './playbook-run.js';
import { limitArgument, passwordAnswers } from './ansible-run.js';
import type { Workspace } from './workspace.js';

const RUN: PlaybookRun = {
  jobId: 1,
  attempt: 1,
  projectDir: '/p',
  playbook: 'site.yml',
  inventory: {},
  extraVars: {},
  jobType: 'run',
};

const of = (settings: Partial<PlaybookRun>): string[] =>
  playbookArguments({ ...RUN, ...settings }).slice(2);

describe('playbookArguments', () => {
  it.each([
    [{}, []],
    [{ jobType: 'run', diffMode: true }, ['--diff']],
    [{ passwords: { ssh: 'x' } }, ['--ask-pass']],
    [{ passwords: { become: 'x' } }, ['--ask-become-pass']],
    [
      { becomeEnabled: true, becomeMethod: 'su', becomeUser: 'ann' },
      ['--become', '--become-method', 'su', '--become-user', 'ann'],
    ],
    [{ becomeUser: '{{ x }}' }, ['--become-user', 'x']],
    [
      { vaultPasswords: [{ password: 'x' }, { id: 'prod', password: 'y' }] },
      ['--ask-vault-pass', '--vault-id', 'prod@prompt'],
    ],
    [{ forks: 7 }, ['--forks=7']],
    [{ forks: 1000 }, ['--forks=200']],
    [{ forks: 0 }, []],
    [{ forceHandlers: true }, ['--force-handlers']],
    [{ limit: 'web:!db' }, ['-l', 'web:!db']],
    [{ limit: '--syntax-check' }, ['--limit=--syntax-check']],
    [{ limit: '@retry/site.retry' }, ['-l', '@retry/site.retry']],
    [{ verbosity: 3 }, ['-vvv']],
    [{ verbosity: 9 }, ['-vvvvv']],
    [{ tags: 'a,b' }, ['-t', 'a,b']],
    [{ tags: '-e@/etc/passwd' }, ['--tags=-e@/etc/passwd']],
    [{ skipTags: '-x' }, ['--skip-tags=-x']],
    [{ startAtTask: '--step' }, ['--start-at-task=--step']],
    [{ startAtTask: 'it\'s "here"\0' }, ['--start-at-task=it\'s "here"']],
    [{ becomeMethod: '-x' }, ['--become-method=-x']],
  ] as [Partial<PlaybookRun>, string[]][])('writes %j as %j', (settings, expected) => {
    expect(of(settings)).toEqual(expected);
  });

  it('always contains the user, and --check first', () => {
    expect(playbookArguments(RUN)).toEqual(['-u', 'root']);
    expect(playbookArguments({ ...RUN, remoteUser: '-oProxyCommand=x', jobType: 'check' })).toEqual(
      ['--check', '--user=-oProxyCommand=x'],
    );
  });

  it.each([
    [{ limit: '@/etc/shadow' }, 'outside of the project'],
    [{ limit: 'web,@../x' }, 'outside of the project'],
    [{ limit: '!@~/x' }, 'outside of the project'],
    [{ vaultPasswords: [{ id: 'a@/bin/sh', password: 'x' }] }, 'is not valid'],
    [{ vaultPasswords: [{ password: 'x' }, { password: 'y' }] }, 'given twice'],
  ] as [Partial<PlaybookRun>, string][])('refuses %j', (settings, message) => {
    expect(() => of(settings)).toThrow(message);
  });
});

describe('quoteArguments', () => {
  it('keeps each argument as one argument', () => {
    expect(quoteArguments(["it's", 'a b', '$(x)\n'])).toBe(`'it'"'"'s' 'a b' '$(x)\n'`);
  });
});

describe('passwordAnswers', () => {
  it('answers the prompts for the given passwords only', () => {
    expect(passwordAnswers(RUN)).toEqual({});
    const answers = passwordAnswers({
      ...RUN,
      sshKeyData: 'k',
      sshKeyUnlock: 'open',
      passwords: { ssh: 's', become: 'b' },
      becomeMethod: 'su',
      vaultPasswords: [{ password: 'v' }, { id: 'a.b', password: 'w' }],
    });
    const answerTo = (prompt: string): string | undefined =>
      Object.entries(answers).find(([pattern]) => new RegExp(pattern, 'm').test(prompt))?.[1];
    expect(answerTo('SSH password: ')).toBe('s');
    expect(answerTo('BECOME password[defaults to SSH password]: ')).toBe('b');
    expect(answerTo('su password: ')).toBe('b');
    expect(answerTo('Vault password: ')).toBe('v');
    expect(answerTo('Vault password (a.b): ')).toBe('w');
    expect(answerTo('Vault password (axb): ')).toBeUndefined();
    expect(answerTo('er passphrase for /long/path/artifacts/run/ssh_key_data: ')).toBe('open');
    expect(answerTo('Bad passphrase, try again for /x/ssh_key_data: ')).toBe('');
  });
});

it.each([
  ['is no list', 'web:'.repeat(40_000)],
  ['names a file', `@hosts,${'web,'.repeat(40_000)}`],
])('a limit that is too long for an argument and %s is refused', async (_what, limit) => {
  await expect(limitArgument(limit, {} as Workspace)).rejects.toThrow(
    'The limit has more than 130000 bytes',
  );
});

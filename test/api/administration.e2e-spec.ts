/** Commands of the administrators and developers, by `npm run controller -- <command>`. */
import { SessionsService } from '../../src/auth/sessions.service.js';
import { runCommand } from '../../src/cli/commands.js';
import { ApiClient } from '../support/client.js';
import { boot, withSettingsOf, type TestApp } from '../support/boot.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

/** Runs a command as in a shell. Returns what it prints; fails unless it succeeds. */
const printed = (...argv: readonly string[]): Promise<string> => printedWith({}, ...argv);

async function printedWith(
  settings: Record<string, string>,
  ...argv: readonly string[]
): Promise<string> {
  const out = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    expect(await withSettingsOf(test, settings, () => runCommand(argv))).toBe(0);
    return out.mock.calls.map(([text]) => String(text)).join('');
  } finally {
    out.mockRestore();
  }
}

it('create-superuser creates an administrator, or resets the password of an existing one', async () => {
  for (const password of ['the first password', 'the second password']) {
    await printed('create-superuser', '--username', 'boss', '--password', password);
    const credentials = Buffer.from(`boss:${password}`).toString('base64');
    const boss = new ApiClient(test.url, { Authorization: `Basic ${credentials}` });
    const { body } = await boss.get('me/').expect(200);
    expect(body.results).toMatchObject([{ username: 'boss', is_superuser: true }]);
  }
  expect(await printed('ensure-admin')).toBe('an administrator exists\n');
});

it('create-superuser with a new password ends the sessions of the user', async () => {
  const { id } = await test.make.user({ username: 'lost', password: 'the first password' });
  const sessions = test.app.get(SessionsService, { strict: false });
  const session = await sessions.start(Number(id));
  await printed('create-superuser', '--username', 'lost', '--password', 'the second password');
  expect(await sessions.isOpen(session)).toBe(false);
});

it('create-superuser with a new password revokes tokens if the setting requires it', async () => {
  const user = await test.make.user({ username: 'leaked', password: 'the first password' });
  const client = await test.as.asUser(user);
  const argv = ['create-superuser', '--username', 'leaked', '--password', 'the second password'];
  await printed(...argv);
  await client.get('me/').expect(200);
  await printedWith({ PASSWORD_CHANGE_ENDS_TOKENS: '1' }, ...argv);
  await client.get('me/').expect(401);
});

it('create-token prints a token of the user', async () => {
  const token = (await printed('create-token', '--username', 'orgAdmin', '--scope', 'read')).trim();
  const client = new ApiClient(test.url, { Authorization: `Bearer ${token}` });
  const { body } = await client.get('me/').expect(200);
  expect(body.results).toMatchObject([{ username: 'orgAdmin' }]);
  await client.post('teams/', {}).expect(403);
});

it.each([
  [
    'an unknown scope',
    ['--username', 'orgAdmin', '--scope', 'raed'],
    '--scope must be read or write, not raed.',
  ],
  ['no user', [], 'Specify --username.'],
])('create-token refuses %s', async (_name, options, message) => {
  const errors = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    const argv = ['create-token', ...options];
    expect(await withSettingsOf(test, {}, () => runCommand(argv))).toBe(2);
    expect(errors).toHaveBeenCalledWith(`${message}\n`);
  } finally {
    errors.mockRestore();
  }
});

it('all migrations are applied', async () => {
  expect(await printed('migrate')).toBe('up to date\n');
  expect(await printed('migration-check')).toBe('');
  expect(await printed('migration-new', 'add-labels')).toBe('nothing to migrate\n');
});

it('routes prints every URL with its handler', async () => {
  expect(await printed('routes')).toMatch(/\/api\/v2\/teams\/.*TeamsController/);
});

it.each(['openapi', 'settings-docs', 'notification-docs'])(
  'the document that %s writes is up to date',
  async (command) => {
    await printed(command, '--check');
  },
);

/** The sidebar and tabs, as the server sends them: which items a user gets, and which is the current one. */
import { boot, type TestApp } from '../support/boot.js';
import type { ApiClient } from '../support/client.js';
import { htmlOf, wordsOf } from './html.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

async function sidebarOf(caller: ApiClient, path: string): Promise<string> {
  return /<nav class="side".*?<\/nav>/s.exec(await htmlOf(caller, path))?.[0] ?? '';
}

/** Labels of the items that are marked as current. */
const current = (sidebar: string): string[] =>
  [...sidebar.matchAll(/<a\s[^>]*aria-current="(\w+)"[^>]*>.*?<\/a\s*>/gs)].map(
    ([link, kind]) => `${wordsOf(link).join('')}: ${kind}`,
  );

describe('the sidebar', () => {
  it('hides pages that the user may not open', async () => {
    const admin = wordsOf(await sidebarOf(test.as.superuser, 'teams/'));
    const member = wordsOf(await sidebarOf(test.as.orgMember, 'teams/'));
    expect(admin.filter((item) => !member.includes(item))).toEqual(['Authenticators', 'Settings']);
    await test.as.orgMember.get('authenticators/').expect(403);
    await test.as.orgMember.get('settings/').expect(403);
    expect(wordsOf(await sidebarOf(test.as.auditor, 'teams/'))).toContain('Settings');
    await test.as.auditor.get('settings/').expect(200);
  });

  it('links to existing pages only', async () => {
    const sidebar = await sidebarOf(test.as.superuser, 'teams/');
    const paths = [...sidebar.matchAll(/href="\/api\/v2\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(15);
    for (const path of paths) await test.as.superuser.get(path).expect(200);
  });

  it('marks the entry of a list, of an object and of a part of an object', async () => {
    const { id } = await test.make.jobTemplate();
    for (const [path, items] of [
      ['teams/', ['Teams: page']],
      [`teams/${test.home.team.id}/`, ['Teams: true']],
      [`job_templates/${id}/schedules/`, ['Templates: true']],
      ['jobs/', ['Jobs: true']],
      ['labels/', []],
    ] as const) {
      expect([path, current(await sidebarOf(test.as.superuser, path))]).toEqual([path, items]);
    }
  });

  it('is hidden before the login', async () => {
    const { text } = await test.as.anonymous.get('/api/login/').set('Accept', 'text/html');
    expect(text).not.toContain('class="side"');
  });
});

describe('the tabs', () => {
  const tabsOf = async (path: string): Promise<string> =>
    /<nav class="tabs".*?<\/nav>/s.exec(await htmlOf(test.as.superuser, path))?.[0] ?? '';

  it('lead to the commands, children, facts and Galaxy credentials, each under its own name', async () => {
    const inventory = await test.make.inventory();
    const host = await test.make.host(inventory);
    const group = await test.make.group(inventory);
    for (const [path, parts] of [
      [`inventories/${inventory.id}/`, ['ad_hoc_commands']],
      [`hosts/${host.id}/`, ['ad_hoc_commands', 'ansible_facts']],
      [`groups/${group.id}/`, ['ad_hoc_commands', 'children']],
      [`organizations/${test.home.organization.id}/`, ['galaxy_credentials']],
    ] as const) {
      const tabs = await tabsOf(path);
      for (const part of parts) expect(tabs).toContain(`href="/api/v2/${path}${part}/`);
      const labels = wordsOf(tabs);
      expect(labels).toEqual([...new Set(labels)]);
    }
  });
});

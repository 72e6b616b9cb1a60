import { SessionsService } from '../../src/auth/sessions.service.js';
import { SESSION_COOKIE } from '../../src/common/http/cookies.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { furnish } from './furnish.js';

jest.setTimeout(300_000);

/** Number of pages checked of each kind. Objects of one kind differ in their links. */
const PAGES_OF_A_KIND = 2;
const MAX_PAGES = 900;

let test: TestApp;

beforeAll(async () => {
  test = await boot();
  await furnish(test);
  await furnishRest(test);
});
afterAll(() => test.close());

/** Creates one of each kind of object that the furnished installation lacks. */
async function furnishRest({ make, home, database, as }: TestApp): Promise<void> {
  const organization = home.organization.id;
  const inventory = await make.inventory({ organization });
  const host = await make.host(inventory);
  await make.group(inventory);
  const template = await make.jobTemplate({ inventory: inventory.id });
  await as.superuser
    .post(`job_templates/${template.id}/schedules/`)
    .send({ name: 'Nightly', rrule: 'DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1' })
    .expect(201);
  await as.superuser.post('labels/').send({ name: 'Night', organization }).expect(201);
  await as.superuser.post('tokens/').send({}).expect(201);
  await make.credential({ organization });
  const project = await make.project({ organization });
  const [job, update] = await database.rows<{ id: number }>(sql`
    INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id,
      project_id, inventory_id, organization_id, launch_type, finished)
    VALUES ('job', 'Deployed', 'failed', ${template.id}, ${template.id}, ${project.id},
        ${inventory.id}, ${organization}, 'webhook', now()),
      ('project_update', 'Fetched', 'successful', ${project.id}, NULL, ${project.id}, NULL,
        ${organization}, 'manual', now())
    RETURNING id`);
  await database.execute(sql`
    UPDATE unified_job_templates SET last_job_id = ${update?.id} WHERE id = ${project.id}`);
  await database.execute(sql`
    INSERT INTO job_events (job_id, counter, event, event_data, host_id, host_name)
    VALUES (${job?.id}, 1, 'runner_on_failed', '{}', ${host.id}, ${host.name})`);
  await database.execute(sql`
    INSERT INTO job_host_summaries (job_id, host_id, host_name, failures, failed)
    VALUES (${job?.id}, ${host.id}, ${host.name}, 1, true)`);
  await database.execute(sql`
    INSERT INTO webhook_deliveries (template_id, service, event, guid, verdict, job_id, payload)
    VALUES (${template.id}, 'service_a', 'push', 'launched', 'accepted', ${job?.id}, '{}')`);
  const chat = await make.notificationTemplate({ organization });
  await database.execute(sql`
    INSERT INTO notifications (notification_template_id, notification_type, status, event,
      unified_job_id)
    VALUES (${chat.id}, 'webhook', 'successful', 'error', ${job?.id})`);
}

/** Returns the kind of a page: its path without ids and names, and the names of its parameters. */
const kindOf = ({ pathname, searchParams }: URL): string =>
  `${pathname.replace(/\/\d+(?=\/)/g, '/#')}?${[...searchParams.keys()].sort().join('&')}`;

describe('links and controls of pages', () => {
  const failed: string[] = [];
  const scripted: string[] = [];
  let visited = 0;

  beforeAll(async () => {
    const seen = new Map<string, number>();
    const known = new Set<string>();
    const queue: { url: URL; from: string }[] = [];
    const found = (href: string, from: string): void => {
      const url = new URL(href, test.url);
      url.hash = '';
      if (url.origin !== test.url || known.has(url.href)) return;
      known.add(url.href);
      const kind = kindOf(url);
      const times = seen.get(kind) ?? 0;
      seen.set(kind, times + 1);
      if (times < PAGES_OF_A_KIND) queue.push({ url, from });
    };
    const sessions = test.app.get(SessionsService, { strict: false });
    const session = await sessions.start(test.as.users.superuser.id);
    const headers = { Accept: 'text/html', Cookie: `${SESSION_COOKIE}=${session}` };
    found('/', '');
    found('/api/v2/', '');
    for (let next = queue.shift(); next && visited < MAX_PAGES; next = queue.shift()) {
      visited += 1;
      const { url, from } = next;
      const path = url.pathname + url.search;
      const response = await fetch(url, { headers });
      const text = await response.text();
      if (response.status >= 400) failed.push(`${response.status} ${path} on ${from}`);
      if (!response.headers.get('content-type')?.includes('text/html')) continue;
      for (const href of hrefs(text)) found(href, path);
      scripted.push(...controlsThatNeedScripts(text).map((one) => `${one} on ${path}`));
    }
  });

  it('lead from every page to existing pages', () => {
    expect(failed).toEqual([]);
    expect(visited).toBeGreaterThan(250);
  });

  it('work without scripts on every page', () => {
    expect(scripted).toEqual([]);
  });

  it.each([
    ['<button>Go</button>', '<button>'],
    ['<form><button type="button">Go</button></form>', '<button type="button">'],
    ['<form></form><button form="x">Go</button>', '<button form="x">'],
    ['<div data-picker="/api/v2/teams/"></div>', '<div data-picker="/api/v2/teams/">'],
    ['<input data-picker="/api/v2/teams/">', '<input data-picker="/api/v2/teams/">'],
    ['<a href="#" data-x>Go</a>', '<a href="#" data-x>'],
  ])('detect a control that needs scripts: %s', (page, control) => {
    expect(controlsThatNeedScripts(page)).toEqual([control]);
  });
});

/** Returns the targets of the links in the source of a page. */
const hrefs = (page: string): string[] =>
  [...page.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)].map(([, href = '']) =>
    href.replaceAll('&amp;', '&'),
  );

/**
 * Returns the controls that have no effect without scripts: buttons that submit no form, pickers that are not
 * a select or input with a name, and links without a target.
 */
function controlsThatNeedScripts(page: string): string[] {
  const forms = new Set([...page.matchAll(/<form\b[^>]*\sid="([^"]*)"/g)].map(([, id]) => id));
  let isInForm = false;
  return [...page.matchAll(/<(\/?)(\w+)\b([^>]*)>/g)]
    .filter(([, slash, name = '', rest = '']) => {
      if (name === 'form') isInForm = slash === '';
      if (slash !== '') return false;
      if (rest.includes('data-picker=')) {
        return !['select', 'input'].includes(name) || !/\sname="[^"]/.test(rest);
      }
      if (name === 'a') return /\shref="#"/.test(rest) || !rest.includes('href=');
      if (name !== 'button') return false;
      if (/\stype="(?!submit)/.test(rest)) return true;
      const form = /\sform="([^"]*)"/.exec(rest)?.[1];
      return form === undefined ? !isInForm : !forms.has(form);
    })
    .map(([tag]) => tag);
}

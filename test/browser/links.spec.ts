import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { inBrowser, visit } from './browser.js';
import { furnish } from './furnish.js';

jest.setTimeout(300_000);

/** Pages of one kind that are looked at: objects of one kind differ in what they link to. */
const PAGES_OF_A_KIND = 2;
const MAX_PAGES = 900;

let test: TestApp;

beforeAll(async () => {
  test = await boot({ openapi: true });
  await furnish(test);
  await furnishRest(test);
});
afterAll(() => test.close());

/** One of each kind of object that a lived-in house lacks. */
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

/** The kind of a page: its path without ids and names, and the names of its parameters. */
const kindOf = ({ pathname, searchParams }: URL): string =>
  `${pathname.replace(/\/\d+(?=\/)/g, '/#')}?${[...searchParams.keys()].sort().join('&')}`;

inBrowser()('links', () => {
  it('lead from every page to pages that answer', async () => {
    const options = { javaScriptEnabled: false };
    const open = await visit(test, test.as.users.superuser, options);
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
    const failed: string[] = [];
    let visited = 0;
    found('/', '');
    found('/api/v2/', '');
    for (let next = queue.shift(); next && visited < MAX_PAGES; next = queue.shift()) {
      visited += 1;
      const { url, from } = next;
      const answer = await open.page.request.get(url.href, { headers: { Accept: 'text/html' } });
      const path = url.pathname + url.search;
      if (answer.status() >= 400) failed.push(`${answer.status()} ${path} on ${from}`);
      if (!answer.headers()['content-type']?.includes('text/html')) continue;
      for (const href of hrefs(await answer.text())) found(href, path);
    }
    expect(failed).toEqual([]);
    expect(visited).toBeGreaterThan(250);
    await open.close();
  });
});

/** Where the links of a page lead, as its source says it. */
const hrefs = (page: string): string[] =>
  [...page.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)].map(([, href = '']) =>
    href.replaceAll('&amp;', '&'),
  );

/** The checklist on the dashboard of an installation in which nothing has been launched. */
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { htmlOf, wordsOf } from './html.js';

let test: TestApp;

const cardOf = (html: string): string => /<section id="setup".*?<\/section>/s.exec(html)?.[0] ?? '';

/** Labels of the steps that are done, or that are not. */
const steps = (html: string, isDone: boolean): string[] =>
  [...cardOf(html).matchAll(/<li class="(done)?">.*?<\/li>/gs)]
    .filter(([, mark]) => (mark === 'done') === isDone)
    .map(([item]) => wordsOf(item)[1] ?? '');

describe('the first steps', () => {
  beforeAll(async () => {
    test = await boot();
  });
  afterAll(() => test.close());

  it('are checked off, link to their forms, and disappear with the first job', async () => {
    const dashboard = (): Promise<string> => htmlOf(test.as.superuser, '/');
    const before = await dashboard();
    expect(steps(before, true)).toEqual(['Create an organization']);
    expect(steps(before, false)).toEqual([
      'Add a project',
      'Add an inventory',
      'Add a credential',
      'Create a job template',
      'Launch the template',
    ]);
    const [link] = /\/api\/v2\/projects\/\?_form=post/.exec(cardOf(before)) ?? [];
    expect(await htmlOf(test.as.superuser, String(link))).toContain('id="form-post"');

    const { id } = await test.make.jobTemplate();
    expect(steps(await dashboard(), true)).toContain('Create a job template');
    await test.database.execute(sql`
      INSERT INTO unified_jobs (type, name, status, unified_job_template_id)
      VALUES ('job', 'First', 'successful', ${id})`);
    expect(cardOf(await dashboard())).toBe('');
  });

  it('are hidden from users who may create nothing', async () => {
    expect(cardOf(await htmlOf(test.as.nobody, '/'))).toBe('');
  });
});

describe('the list of uses of an object', () => {
  beforeAll(async () => {
    test = await boot();
  });
  afterAll(() => test.close());

  it('includes the constructed inventories with it as an input', async () => {
    const organization = test.home.organization.id;
    const input = await test.make.inventory({ organization });
    const { body } = await test.as.superuser
      .post('constructed_inventories/', { name: 'All regions', organization })
      .expect(201);
    await test.as.superuser
      .post(`inventories/${body.id}/input_inventories/`, { id: input.id })
      .expect(204);
    const usesOf = async (path: string): Promise<string> =>
      /<section[^>]*id="used-by".*?<\/section>/s.exec(await htmlOf(test.as.superuser, path))?.[0] ??
      '';
    expect(wordsOf(await usesOf(`inventories/${input.id}/`))).toContain('All regions');
    expect(await usesOf(`constructed_inventories/${body.id}/`)).toContain('No uses');
  });

  it('includes the workflows and organizations that notify of approvals only', async () => {
    const organization = test.home.organization.id;
    const attached = await test.make.notificationTemplate({ organization });
    const workflow = await test.make.workflowTemplate({ name: 'Approved rollout', organization });
    for (const path of [
      `workflow_job_templates/${workflow.id}/`,
      `organizations/${organization}/`,
    ]) {
      await test.as.superuser
        .post(`${path}notification_templates_approvals/`, { id: attached.id })
        .expect(204);
    }
    const html = await htmlOf(test.as.superuser, `notification_templates/${attached.id}/`);
    const uses = wordsOf(/<section[^>]*id="used-by".*?<\/section>/s.exec(html)?.[0] ?? '');
    expect(uses).toContain('Approved rollout');
    expect(uses).toContain(test.home.organization.name);
  });

  it('includes schedules, and projects that check signatures or post statuses', async () => {
    const organization = test.home.organization.id;
    const { superuser } = test.as;
    const inventory = await test.make.inventory({ organization });
    const credential = await test.make.credential({ organization });
    const project = await test.make.project({ name: 'Signed plays', organization });
    await test.database.execute(sql`
      UPDATE unified_job_templates SET signature_validation_credential_id = ${credential.id}
      WHERE id = ${project.id}`);
    const posting = await test.make.project({ name: 'Posted plays', organization });
    await test.database.execute(sql`
      UPDATE unified_job_templates SET webhook_credential_id = ${credential.id}
      WHERE id = ${posting.id}`);
    const asks = { ask_inventory_on_launch: true, ask_credential_on_launch: true };
    const template = await test.make.jobTemplate({ project: project.id, ...asks });
    const rrule = 'DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1';
    const { body } = await superuser
      .post(`job_templates/${template.id}/schedules/`, {
        ...{ name: 'Every night', rrule, inventory: inventory.id },
      })
      .expect(201);
    await superuser.post(`schedules/${body.id}/credentials/`, { id: credential.id }).expect(204);
    const usesOf = async (path: string): Promise<string[]> => {
      const html = await htmlOf(superuser, path);
      return wordsOf(/<section[^>]*id="used-by".*?<\/section>/s.exec(html)?.[0] ?? '');
    };
    expect(await usesOf(`inventories/${inventory.id}/`)).toContain('Every night');
    expect(await usesOf(`credentials/${credential.id}/?_form=delete`)).toEqual(
      expect.arrayContaining(['Signed plays', 'Posted plays', 'Every night']),
    );
  });

  it('appears on its page and before its deletion, with readable objects only', async () => {
    const project = await test.make.project({ organization: test.home.organization.id });
    const path = `projects/${project.id}/`;
    const uses = async (caller: typeof test.as.superuser, page: string): Promise<string[]> => {
      const html = await htmlOf(caller, page);
      return wordsOf(/<section[^>]*id="used-by".*?<\/section>/s.exec(html)?.[0] ?? '');
    };
    expect(await uses(test.as.superuser, path)).toContain('No uses that you can read.');
    await test.make.jobTemplate({ name: 'Deploy by it', project: project.id });
    expect(await uses(test.as.superuser, path)).toContain('Deploy by it');
    expect(await uses(test.as.superuser, `${path}?_form=delete`)).toContain('Deploy by it');
    await test.make.grant('project', project, 'read_role', { user: test.as.users.nobody });
    expect(await uses(test.as.nobody, path)).not.toContain('Deploy by it');
  });
});

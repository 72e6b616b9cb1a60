/**
 * Every field of a project or an inventory source has an effect: its update receives the value, or a named
 * test shows the effect.
 */
import { readFileSync } from 'node:fs';

import { fieldsOf } from '../../src/common/fields/field.js';
import { isWritable } from '../../src/common/fields/reads.decorator.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { InventorySource } from '../../src/inventory-sources/inventory-source.entity.js';
import { Project } from '../../src/projects/project.entity.js';
import { boot, type TestApp } from '../support/boot.js';

interface Kind {
  entity: new () => object;
  /** Values that the row of an update has, as the worker reads it. */
  given: Record<string, unknown>;
  /** Tests that show the effect of the other fields. */
  shown: Record<string, string>;
  make: (fields: object) => Promise<Row>;
}

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const makeProject = (fields: object): Promise<Row> =>
  test.make.project({
    ...{ scm_type: 'git', scm_url: 'https://code.invalid/x.git', allow_override: true },
    ...{ organization: test.home.organization.id, ...fields },
  });

async function makeSource(fields: object): Promise<Row> {
  const project = await makeProject({});
  const inventory = await test.make.inventory({ organization: test.home.organization.id });
  return test.make.row('inventory_source', {
    ...{ name: 'Source', inventory: inventory.id, source: 'scm', source_project: project.id },
    ...fields,
  });
}

const UPDATES = 'test/queue/inventory-updates.spec.ts';
const ORDER = 'test/queue/inventory-sources-order.spec.ts';
const WEBHOOKS = 'test/api/projects-webhooks.e2e-spec.ts';

const KINDS: [path: string, kind: Kind][] = [
  [
    'projects',
    {
      entity: Project,
      make: makeProject,
      given: {
        scm_branch: 'stable',
        scm_clean: true,
        scm_delete_on_update: true,
        scm_refspec: '+refs/pull/*:refs/remotes/origin/pull/*',
        scm_track_submodules: true,
        timeout: 60,
      },
      shown: {
        allow_override: 'test/queue/webhook-checkouts.spec.ts',
        credential: 'test/runner/git-checkout.spec.ts',
        default_environment: 'test/queue/execution-environments.spec.ts',
        local_path: 'test/queue/runs.spec.ts',
        organization: 'test/queue/instance-groups.spec.ts',
        signature_validation_credential: 'test/queue/project-content.spec.ts',
        scm_type: 'test/queue/webhook-checkouts.spec.ts',
        scm_update_cache_timeout: 'test/queue/scheduler.spec.ts',
        scm_update_on_launch: 'test/queue/scheduler.spec.ts',
        scm_url: 'test/queue/webhook-checkouts.spec.ts',
        webhook_credential: WEBHOOKS,
        webhook_dedupe_body: 'test/security/webhook-outsiders.e2e-spec.ts',
        webhook_filters: WEBHOOKS,
        webhook_service: WEBHOOKS,
      },
    },
  ],
  [
    'inventory_sources',
    {
      entity: InventorySource,
      make: makeSource,
      given: {
        enabled_value: 'yes',
        enabled_var: 'on',
        host_filter: '^web',
        limit: 'web',
        overwrite: true,
        overwrite_vars: true,
        scm_branch: 'stable',
        source_path: 'hosts.ini',
        source_vars: 'a: 1',
        timeout: 60,
        verbosity: 2,
      },
      shown: {
        credential: UPDATES,
        execution_environment: 'test/api/inventory-sources.e2e-spec.ts',
        inventory: 'test/queue/inventory-sources.spec.ts',
        source: UPDATES,
        source_project: UPDATES,
        update_cache_timeout: ORDER,
        update_on_launch: ORDER,
      },
    },
  ],
];

describe.each(KINDS)('%s', (path, { entity, given, shown, make }) => {
  it('have a visible effect for every writable field', () => {
    const names = fieldsOf(entity)
      .filter((field) => isWritable(field))
      .map(({ name }) => name)
      .filter((name) => !['name', 'description'].includes(name));
    expect([given, shown].flatMap((table) => Object.keys(table)).toSorted()).toEqual(
      names.toSorted(),
    );
    const missing = Object.entries(shown).filter(
      ([name, file]) => !readFileSync(file, 'utf8').includes(name),
    );
    expect(missing).toEqual([]);
  });

  it('pass their values to their updates', async () => {
    const updated = async (fields: object): Promise<Row> => {
      const { id } = await make(fields);
      const { body } = await test.as.superuser.post(`${path}/${id}/update/`, {}).expect(202);
      const row = await test.database.row<Row>(
        sql`SELECT * FROM unified_jobs WHERE id = ${body.id}`,
      );
      return row!;
    };
    const plain = await updated({});
    expect(await updated(given)).toMatchObject(given);
    for (const [name, value] of Object.entries(given)) expect(plain[name]).not.toEqual(value);
  });
});

/**
 * Templates that receive webhooks, and requests as the services send them:
 *
 *   const hook = await newHook(test, 'service_a', { ask_scm_branch_on_launch: true });
 *   const { body } = await hook.send(webhookSample('service_a', 'push')).expect(202);
 *   await hook.post(rawBody, headers).expect(403);
 */
import { randomUUID } from 'node:crypto';

import supertest from 'supertest';

import { generateWebhookKey } from '../../src/common/crypto/random-key.js';
import { rowContext, SecretBox } from '../../src/common/crypto/secret-box.js';
import { resource, type Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import type { WebhookServiceName } from '../../src/code-hosts/services.js';
import type { TestApp } from './boot.js';
import { deliveryHeaders, type DeliveryOptions } from './payloads/webhooks.js';

type Json = Record<string, unknown>;

/** Event to send, for example a sample of the contract's table. */
export interface SentEvent {
  event: string;
  payload: Json;
}

export class Hook {
  constructor(
    private readonly test: TestApp,
    readonly template: Row,
    readonly service: WebhookServiceName,
    readonly key: string,
  ) {}

  /** Returns the path of the receiver, by default for the service of the template. */
  path(service: string = this.service): string {
    return `${resource(String(this.template.type)).url(this.template.id)}${service}/`;
  }

  /** Sends a correctly signed delivery, by default with a new id. */
  send({ event, payload }: SentEvent, options: DeliveryOptions = {}): supertest.Test {
    const rawBody = Buffer.from(JSON.stringify(payload));
    const sent = { delivery: randomUUID(), ...options };
    return this.post(rawBody, deliveryHeaders(this.service, event, rawBody, this.key, sent));
  }

  /** Sends bytes and headers unchanged. */
  post(
    rawBody: Buffer,
    headers: Record<string, string>,
    path: string = this.path(),
  ): supertest.Test {
    const pending = supertest(this.test.url).post(path).set(headers);
    // The client must send the bytes unchanged, and not encode a buffer as JSON.
    return pending.serialize((body: unknown) => body as string).send(rawBody as never);
  }

  /** Returns all runs of the template. */
  jobs(): Promise<Row[]> {
    return this.test.database.rows<Row>(sql`
      SELECT * FROM unified_jobs WHERE unified_job_template_id = ${this.template.id} ORDER BY id`);
  }

  deliveries(): Promise<Row[]> {
    return this.test.database.rows<Row>(sql`
      SELECT * FROM webhook_deliveries WHERE template_id = ${this.template.id} ORDER BY id`);
  }
}

/** Creates a job template with a webhook key. `template` takes fields of the API. */
export async function newHook(
  test: TestApp,
  service: WebhookServiceName,
  fields: Json = {},
): Promise<Hook> {
  return addHook(test, await test.make.jobTemplate(fields), service);
}

/** Sets the service and the key of a template of any kind. */
export async function addHook(
  test: TestApp,
  template: Row,
  service: WebhookServiceName,
): Promise<Hook> {
  const key = generateWebhookKey();
  const context = rowContext('unified_job_templates', template.id, 'webhook_key');
  const encrypted = test.app.get(SecretBox, { strict: false }).seal(key, context);
  await test.database.execute(sql`
    UPDATE unified_job_templates SET webhook_service = ${service}, webhook_key = ${encrypted}
    WHERE id = ${template.id}`);
  return new Hook(test, template, service, key);
}

/**
 * Fields named in the contract exist: tables of fields and the sections on runs are compared with the OpenAPI
 * document, which `npm run check` compares with the product.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import type { JsonSchema, OpenApiDocument, Operation } from '../support/openapi.js';
import { operationsOf } from '../support/openapi.js';

const CONTRACT = join(PACKAGE_FOLDER, 'docs', 'contract');
const api = JSON.parse(
  readFileSync(join(PACKAGE_FOLDER, 'docs', 'openapi.json'), 'utf8'),
) as OpenApiDocument;

/** Schemas of the objects, or operations with the bodies, by section with a table of fields. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  'activity.md#Entries': ['ActivityStream'],
  'bulk.md#Launching jobs': ['bulk_job_launch', 'workflow_job_template_nodes_create'],
  'bulk.md#Creating hosts': ['bulk_host_create'],
  'constructed-inventories.md#Source': ['ConstructedInventory'],
  'inventory-sources.md#Fields': ['InventorySource'],
  'notifications.md#Templates': ['NotificationTemplate'],
  'notifications.md#Records': ['Notification'],
  'resources.md#Organizations': ['Organization'],
  'resources.md#Users': ['User'],
  'resources.md#Projects': ['Project'],
  'resources.md#Credentials': ['Credential', 'credentials_create'],
  'resources.md#Credential input sources': ['CredentialInputSource'],
  'resources.md#Inventories': ['Inventory'],
  'resources.md#Job templates': ['JobTemplate'],
  'resources.md#Execution environments': ['ExecutionEnvironment'],
  'resources.md#Instance groups': ['InstanceGroup'],
  'resources.md#Instances': ['Instance'],
  'resources.md#Authenticators': ['Authenticator'],
  'runs.md#Events': ['JobEvent'],
  'schedules.md#Schedules': ['Schedule'],
  'system-jobs.md#Own retention': ['Organization', 'JobTemplate', 'WorkflowJobTemplate'],
  'webhooks.md#Fields of templates': ['JobTemplate'],
  'workflows.md#Workflow job templates': ['WorkflowJobTemplate'],
  'workflows.md#Nodes': ['WorkflowJobTemplateNode'],
};

/**
 * Schemas of the objects, by section that names fields in sentences, along with values, links and summaries.
 */
const SENTENCES: Readonly<Record<string, readonly string[]>> = {
  'runs.md#Fields of runs': ['Job', 'ProjectUpdate', 'InventoryUpdate'],
  'runs.md#Jobs': ['Job'],
  'runs.md#Project updates': ['ProjectUpdate'],
};

interface Section {
  place: string;
  lines: readonly string[];
}

const sections: Section[] = readdirSync(CONTRACT).flatMap((file) =>
  readFileSync(join(CONTRACT, file), 'utf8')
    .split(/^#+ /m)
    .slice(1)
    .map((text) => {
      const [heading = '', ...lines] = text.split('\n');
      return { place: `${file}#${heading}`, lines };
    }),
);

const isFieldTable = (line: string): boolean => /^\| Fields? /.test(line);

const NAME = /`([a-z][a-z0-9_]*)`/g;
const namesIn = (text: string): string[] => [...text.matchAll(NAME)].map(([, name]) => name!);

/** Returns the names in the first column of a section's field tables; of tables that list names, all. */
function namesInTables({ lines }: Section): string[] {
  let isIn = false;
  return lines.flatMap((line) => {
    isIn = line.startsWith('|') && (isIn || isFieldTable(line));
    const [, first = '', second = ''] = line.split(/(?<!\\)\|/);
    return isIn ? namesIn(first.trim() === 'read-only' ? second : first) : [];
  });
}

/** Returns the field names of an object or a body, with their members and values. */
function known(name: string): string[] {
  const operation = operationsOf(api).find((one: Operation) => one.operationId === name);
  const body = Object.values(operation?.requestBody?.content ?? {})[0]?.schema;
  const schema: JsonSchema | undefined = api.components.schemas[name] ?? body;
  if (!schema) throw new Error(`The OpenAPI document has no ${name}.`);
  const properties = schema.properties ?? {};
  return Object.entries(properties).flatMap(([field, one]) => [
    field,
    ...Object.keys(one.properties ?? {}),
    ...(one.enum ?? []).map(String),
  ]);
}

const unknownNames = (names: readonly string[], among: readonly string[]): string[] => {
  const all = new Set(among.flatMap(known));
  return names.filter((name) => !all.has(name));
};

const sectionAt = (place: string): Section => {
  const found = sections.find((one) => one.place === place);
  if (!found) throw new Error(`docs/contract/${place} does not exist.`);
  return found;
};

it('every table of fields is tested', () => {
  const places = sections.filter(({ lines }) => lines.some(isFieldTable)).map(({ place }) => place);
  expect(places.sort()).toEqual(Object.keys(TABLES).sort());
});

it.each(Object.entries(TABLES))('%s names fields that exist', (place, among) => {
  const names = namesInTables(sectionAt(place));
  expect(names.length).toBeGreaterThan(0);
  expect(unknownNames(names, among)).toEqual([]);
});

it.each(Object.entries(SENTENCES))('%s names existing fields', (place, among) => {
  const names = namesIn(sectionAt(place).lines.join('\n'));
  expect(names.length).toBeGreaterThan(0);
  expect(unknownNames(names, among)).toEqual([]);
});

import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import type { Actor } from '../access.js';
import type { Field } from '../fields/field.js';
import { fieldOptions, schemaOptions } from '../fields/options.js';
import { isWritable } from '../fields/reads.decorator.js';
import type { JsonSchema, JsonSchemas } from '../fields/json-schema.js';
import { searchFields } from '../list/filter-compiler.js';
import { mapValues } from '../records.js';
import type { ResourceDefinition } from '../resource/define-resource.js';
import { changeable } from './changes.js';
import { followedRelations } from '../resource/followed-relations.js';
import { hasSystemRole } from './access.guard.js';
import { CommonServices } from './common-services.service.js';
import { namedUrlFormat } from '../resource/natural-key.js';
import { DomainError } from '../errors/errors.js';
import { LINES_TYPE } from '../http/lines.js';
import { PARSES, RENDERS } from '../http/negotiation.js';
import { ALL_OPEN, NOTHING_OPEN, type FieldsAt, type OpenParts } from './route.js';
import { allowOf, type TableEntry, type TableRoute } from './route-table.service.js';

/** Builds the response to OPTIONS of any URL from the declarations of its routes. */
@Injectable()
export class OptionsService {
  constructor(
    private readonly services: CommonServices,
    private readonly settings: Settings,
  ) {}

  async describe(
    entry: TableEntry,
    path: string,
    actor: Actor | null,
  ): Promise<{ allow: string; body: object }> {
    const post = entry.routes.get('POST');
    // The command-line client reads the fields of an action from object 1, even if that object does not
    // exist (docs/contract/clients.md#options-of-routes).
    const open =
      !post || post.info?.kind === 'action' ? ALL_OPEN : await this.openParts(post, path, actor);
    return {
      allow: allowOf(entry, open.isClosed ? ['POST'] : []),
      body: await this.body(entry, path, actor, open),
    };
  }

  private async body(
    entry: TableEntry,
    path: string,
    actor: Actor | null,
    open: OpenParts,
  ): Promise<object> {
    const get = entry.routes.get('GET');
    const namedRoute = get ?? [...entry.routes.values()][0];
    const definition = get?.info?.resource;
    const lines = entry.routes.get('POST')?.info?.lines ? [LINES_TYPE] : [];
    return {
      name: nameOf(namedRoute),
      description: [...entry.routes.values()]
        .map((route) => route.info?.summary ?? '')
        .filter((text) => text !== '')
        .join(' '),
      renders: [...RENDERS, ...lines],
      parses: [...PARSES, ...lines],
      actions: await this.actions(entry, path, actor, open),
      ...(get?.info?.kind === 'list' && definition ? this.listInfo(definition) : {}),
      ...(definition && definition.roles.length > 0
        ? { object_roles: definition.roles.map(({ field }) => field) }
        : {}),
      ...namedUrlInfo(definition),
    };
  }

  private listInfo(definition: ResourceDefinition): object {
    return {
      types: definition.variants?.().map(({ type }) => type) ?? [definition.type],
      search_fields: [
        ...searchFields(definition).map(({ name }) => name),
        ...definition.alsoSearched.names,
      ],
      related_search_fields: [
        ...[...followedRelations(definition).values()].map(({ name }) => `${name}__search`),
        ...(definition.expression?.searchedNames ?? []),
      ],
      max_page_size: this.settings.MAX_PAGE_SIZE,
    };
  }

  /**
   * Returns `GET`, and `POST` and `PUT` if the caller has permission to send them. Lists have no `PUT`
   * (docs/contract/clients.md#options-of-routes). Documents always have `PUT`, because it describes their
   * fields.
   */
  private async actions(
    entry: TableEntry,
    path: string,
    actor: Actor | null,
    open: OpenParts,
  ): Promise<Record<string, object>> {
    const actions: Record<string, object> = {};
    const get = entry.routes.get('GET');
    if (get) actions.GET = await this.describeResponse(get, path);
    const post = entry.routes.get('POST');
    if (post && (open.body || open.attach)) {
      actions.POST = {
        ...(open.body ? await this.describeFields(post.info?.body ?? [], 'POST') : {}),
        ...(post.info?.attach && open.attach ? ATTACH_FIELDS : {}),
      };
    }
    const put = entry.routes.get('PUT');
    const replacesDocument = put?.info?.kind === 'action';
    if (put && (replacesDocument || (await this.openParts(put, path, actor)).body)) {
      const fields = (await this.fieldsAt(put, path)) ?? put.info?.body ?? [];
      // Clients also read labels and units of read-only fields here.
      const writable = fields.map((field) => ({ ...field, readOnly: false }));
      actions.PUT = await this.describeFields(
        replacesDocument ? writable : changeable({ fields }),
        'PUT',
      );
    }
    return actions;
  }

  /** Describes the fields that a request accepts. */
  private describeFields(fields: readonly Field[], method: 'POST' | 'PUT'): Promise<Descriptions> {
    return this.withSettings(fieldOptions(fields, method), fields, method);
  }

  /** Adds the parts of field descriptions that depend on settings. */
  private async withSettings(
    descriptions: Descriptions,
    fields: readonly Field[],
    method: 'GET' | 'POST' | 'PUT',
  ): Promise<Descriptions> {
    const all = { ...descriptions };
    for (const field of fields) {
      const { name } = field;
      if (!field.optionsFrom || !all[name]) continue;
      const { required, default: value, ...shown } = await this.describeFromSettings(field);
      const sent = method === 'GET' ? {} : { required, default: value };
      all[name] = { ...all[name], ...shown, ...sent };
    }
    return all;
  }

  /** Returns the parts of a field's description that depend on settings. */
  async describeFromSettings({ optionsFrom }: Field): Promise<Readonly<Record<string, unknown>>> {
    return optionsFrom ? this.services.providers.find(optionsFrom).options() : {};
  }

  /** Describes every key of the response to a GET, or of the entries of a list. */
  private async describeResponse(get: TableRoute, path: string): Promise<Record<string, object>> {
    const { kind, resource, adds = {}, response } = get.info ?? {};
    if (resource) {
      const keys = { ...resourceOptions(resource, kind === 'list'), ...schemaOptions(adds) };
      return this.withSettings(keys, resource.fields, 'GET');
    }
    const fields = await this.fieldsAt(get, path);
    return fields ? fieldOptions(fields, 'GET') : schemaOptions(membersOf(response));
  }

  private fieldsAt(route: TableRoute, path: string): FieldsAt {
    const { info } = route;
    return info?.fieldsAt?.(
      this.services.providers.rulesOf(info),
      parametersOf(route.pattern, path),
    );
  }

  /**
   * Returns the parts of a writing route that are open to the caller, as far as they are known before the
   * body is read.
   */
  async openParts(route: TableRoute, path: string, actor: Actor | null): Promise<OpenParts> {
    const { info } = route;
    if (!info || info.access !== 'authenticated') return ALL_OPEN;
    if (!actor || (info.systemRole && !hasSystemRole(actor, info.systemRole))) return NOTHING_OPEN;
    const { resources } = this.services;
    const documentFields = info.body && (await this.fieldsAt(route, path));
    if (documentFields) return { ...ALL_OPEN, fields: documentFields.filter(isWritable) };
    try {
      const parent = info.parent
        ? await resources.load(info.parent, parametersOf(route.pattern, path).id ?? '', actor)
        : null;
      if (info.parent && parent) {
        await resources.assertMay(info.parent, parent.id, info.needs ?? 'read', actor);
      }
      if (info.openParts) {
        const rules = this.services.providers.rulesOf(info);
        return await info.openParts({ services: this.services, actor, parent, rules });
      }
      if (parent || info.kind !== 'create' || !info.resource) return ALL_OPEN;
      return (await resources.mayAdd(info.resource, actor)) ? ALL_OPEN : NOTHING_OPEN;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return NOTHING_OPEN;
    }
  }
}

const ATTACH_FIELDS = {
  id: { type: 'integer', label: 'ID', required: false, help_text: 'Object to attach.' },
  disassociate: {
    type: 'boolean',
    label: 'Disassociate',
    required: false,
    help_text: 'Detach the object instead.',
  },
};

/** Descriptions of fields by name. */
type Descriptions = Record<string, object>;

function resourceOptions(definition: ResourceDefinition, isList: boolean): Descriptions {
  const kinds = definition.variants?.() ?? [definition];
  return {
    type: {
      type: 'choice',
      label: 'Type',
      choices: kinds.map(({ type, label }) => [type, label]),
      filterable: true,
    },
    url: { type: 'string', label: 'URL', filterable: false },
    related: { type: 'object', label: 'Related', filterable: false },
    summary_fields: { type: 'object', label: 'Summary fields', filterable: false },
    ...kinds.reduce((all, kind) => ({ ...all, ...unfilterable(describedKeys(kind, isList)) }), {}),
    ...describedKeys(definition, isList),
  };
}

/**
 * Marks keys as not filterable. A list of several types is filtered only by the fields that the list
 * itself declares.
 */
const unfilterable = (keys: Record<string, object>): Record<string, object> =>
  mapValues(keys, (described) => ({ ...described, filterable: false }));

/**
 * Describes the keys of a representation: the fields, and the members that the resource's `shows` adds.
 */
function describedKeys({ fields, shows }: ResourceDefinition, isList: boolean): Descriptions {
  const shownFields = fields.filter((field) => !isList || !field.detailOnly);
  const described = fieldOptions(fields, 'GET');
  const added = Object.entries(shows.fields ?? {}).filter(
    ([name]) => name !== 'type' && !(name in described),
  );
  return { ...fieldOptions(shownFields, 'GET'), ...schemaOptions(Object.fromEntries(added)) };
}

/**
 * Returns the members of a document. For a list, or a document with `results`, returns the members of the
 * entries.
 */
function membersOf(schema: JsonSchema | undefined): JsonSchemas {
  const properties = schema?.properties ?? {};
  const entries = schema?.items ?? properties.results?.items;
  return entries ? membersOf(entries) : properties;
}

/** Returns the display name of a route: "Team List", "Team Detail", "Team Users List". */
function nameOf(route: TableRoute | undefined): string {
  const info = route?.info;
  if (!info) return '';
  const label = info.resource?.label ?? '';
  const parent = info.parent && !label.startsWith(info.parent.label) ? `${info.parent.label} ` : '';
  if (info.kind === 'list' || info.kind === 'create' || info.kind === 'associate') {
    return `${parent}${label} List`.trim();
  }
  if (info.kind === 'action' || info.kind === 'document') {
    const words = info.operationId.split('_').map((word) => word[0]?.toUpperCase() + word.slice(1));
    return words.join(' ');
  }
  return `${label} Detail`;
}

/** Returns the values of a pattern's parameters in a path. */
function parametersOf(pattern: string, path: string): Record<string, string> {
  const parts = path.split('/');
  return Object.fromEntries(
    pattern
      .split('/')
      .flatMap((part, index) =>
        part.startsWith(':') ? [[part.slice(1), decodeURIComponent(parts[index] ?? '')]] : [],
      ),
  );
}

function namedUrlInfo(definition: ResourceDefinition | null | undefined): object {
  const format = definition ? namedUrlFormat(definition) : null;
  return definition && format !== null ? { named_url_format: `${definition.path}/${format}/` } : {};
}

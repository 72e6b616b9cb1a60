import { Controller, Delete, Get, Patch, Put, Req } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../common/access.js';
import { Forbidden, NotFound } from '../common/errors/errors.js';
import { Reply } from '../common/http/reply.js';
import type { ApiRequest } from '../common/http/request.js';
import { ALL_OPEN, NOTHING_OPEN, Route, type RouteInfo } from '../common/rest/route.js';
import {
  anyOf,
  BOOLEAN,
  INTEGER,
  list,
  mapOf,
  NUMBER,
  object,
  orNull,
  STRING,
} from '../common/fields/json-schema.js';
import { Page } from '../common/list/page.js';
import { Database } from '../database/database.js';
import { RUNTIME_SETTING_FIELDS, SETTING_FIELDS } from './setting-fields.js';
import { RuntimeSettings } from './runtime-settings.service.js';

/** Settings by name: those of the category that was asked for. */
const VALUES = mapOf(anyOf(STRING, NUMBER, BOOLEAN, list(STRING), mapOf(STRING)));
const CATEGORIES = object({
  count: INTEGER,
  next: orNull(STRING),
  previous: orNull(STRING),
  results: list(object({ url: STRING, slug: STRING, name: STRING })),
});
/** Names of categories that are more than a word. */
const TITLES: Readonly<Record<string, string>> = { ui: 'UI', 'named-url': 'Named URL' };

/** The settings of the category in a URL. */
const fieldsAt: NonNullable<RouteInfo['fieldsAt']> = async (machinery, { category = '' }) => {
  const names = await machinery.find(RuntimeSettings).names(category);
  return names ? SETTING_FIELDS.filter(({ name }) => names.includes(name)) : undefined;
};

const change: Omit<RouteInfo, 'operationId'> = {
  kind: 'action',
  access: 'authenticated',
  summary: 'Change settings that can be changed at run time.',
  body: RUNTIME_SETTING_FIELDS,
  fieldsAt,
  response: VALUES,
  opens: ({ actor }) => (actor.isSuperuser ? ALL_OPEN : NOTHING_OPEN),
};

/** `/api/v2/settings/` (docs/contract/operations.md#settings): superusers change, auditors read. */
@ApiTags('settings')
@ApiBearerAuth()
@Controller('api/v2/settings')
export class SettingsController {
  constructor(
    private readonly runtime: RuntimeSettings,
    private readonly database: Database,
  ) {}

  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'settings_list',
    summary: 'Categories of settings.',
    response: CATEGORIES,
  })
  @Get()
  list(@Req() { actor }: ApiRequest): Page {
    assertMayRead(actor);
    const results = ['all', 'changed', ...this.runtime.categories()].map((slug) => ({
      url: `/api/v2/settings/${slug}/`,
      slug,
      name: TITLES[slug] ?? slug.replace(/^./, (letter) => letter.toUpperCase()),
    }));
    const request = {
      style: 'numbered',
      page: 1,
      size: 25,
      sentSize: null,
      count: true,
      after: null,
    } as const;
    return new Page(results, request, results.length, 1, false);
  }

  @Route({
    kind: 'document',
    access: 'authenticated',
    operationId: 'settings_retrieve',
    summary: 'Settings of one category; secrets are masked.',
    fieldsAt,
    response: VALUES,
  })
  @Get(':category')
  async retrieve(@Req() { params, actor }: ApiRequest): Promise<object> {
    assertMayRead(actor);
    return this.runtime.show(await this.names(params));
  }

  @Route({ ...change, operationId: 'settings_replace' })
  @Put(':category')
  replace(@Req() request: ApiRequest): Promise<object> {
    return this.modify(request);
  }

  @Route({ ...change, operationId: 'settings_modify' })
  @Patch(':category')
  async modify(@Req() { params, body, actor }: ApiRequest): Promise<object> {
    assertMayRead(actor);
    const names = await this.names(params);
    if (!actor.isSuperuser) throw new Forbidden();
    return this.database.transaction(async () => {
      await this.runtime.change(names, body);
      return this.runtime.show(names);
    });
  }

  @Route({
    kind: 'destroy',
    access: 'authenticated',
    operationId: 'settings_reset',
    summary: "Put a category back to the environment's values.",
    opens: ({ actor }) => (actor.isSuperuser ? ALL_OPEN : NOTHING_OPEN),
  })
  @Delete(':category')
  async reset(@Req() { params, actor }: ApiRequest): Promise<Reply> {
    assertMayRead(actor);
    const names = await this.names(params);
    if (!actor.isSuperuser) throw new Forbidden();
    await this.database.transaction(() => this.runtime.reset(names));
    return Reply.noContent();
  }

  private async names(params: ApiRequest['params']): Promise<readonly string[]> {
    const names = await this.runtime.names(params.category ?? '');
    if (!names) throw new NotFound();
    return names;
  }
}

function assertMayRead(actor: Actor): void {
  if (!actor.isSuperuser && !actor.isSystemAuditor) throw new Forbidden();
}

import { Body, Controller, Delete, Get, Param, Patch, Put } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { NotFound } from '../common/errors/errors.js';
import { Route, type RouteInfo } from '../common/rest/route.js';
import * as json from '../common/fields/json-schema.js';
import { Page } from '../common/list/page.js';
import { Database } from '../database/database.js';
import { categoryName, RUNTIME_SETTING_FIELDS, SETTING_FIELDS } from './setting-fields.js';
import { RuntimeSettings } from './runtime-settings.service.js';

/** Schema of the settings of a category, by name. */
const VALUES = json.mapOf(
  json.anyOfSchemas(
    json.orNull(json.STRING),
    json.NUMBER,
    json.BOOLEAN,
    json.list(json.STRING),
    json.mapOf(json.STRING),
  ),
);
const CATEGORIES = json.object({
  count: json.described(json.INTEGER, 'Number of categories.'),
  next: json.described(json.orNull(json.STRING), 'Path of the next page.'),
  previous: json.described(json.orNull(json.STRING), 'Path of the previous page.'),
  results: json.described(
    json.list(json.object({ url: json.STRING, slug: json.STRING, name: json.STRING })),
    'Categories of settings.',
  ),
});
/** Options of routes for the settings of the category in the URL. */
const ofCategory: Pick<RouteInfo, 'rules' | 'fieldsAt'> = {
  rules: RuntimeSettings,
  async fieldsAt(runtime: RuntimeSettings, { category = '' }) {
    const names = await runtime.names(category);
    return names ? SETTING_FIELDS.filter(({ name }) => names.includes(name)) : undefined;
  },
};

const change: Omit<RouteInfo, 'operationId'> = {
  kind: 'action',
  summary: 'Change settings that can be changed at run time.',
  body: RUNTIME_SETTING_FIELDS,
  ...ofCategory,
  response: VALUES,
  systemRole: 'superuser',
};

type Values = Record<string, unknown>;

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
    operationId: 'settings_list',
    summary: 'Categories of settings.',
    systemRole: 'auditor',
    response: CATEGORIES,
  })
  @Get()
  list(): Page {
    const results = ['all', 'changed', ...this.runtime.categories()].map((slug) => ({
      url: `/api/v2/settings/${slug}/`,
      slug,
      name: categoryName(slug),
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
    operationId: 'settings_retrieve',
    summary: 'Settings of one category; secrets are masked.',
    systemRole: 'auditor',
    ...ofCategory,
    response: VALUES,
  })
  @Get(':category')
  async retrieve(@Param('category') category: string): Promise<object> {
    return this.runtime.show(await this.names(category));
  }

  @Route({ ...change, operationId: 'settings_replace' })
  @Put(':category')
  replace(@Param('category') category: string, @Body() body: Values): Promise<object> {
    return this.modify(category, body);
  }

  @Route({ ...change, operationId: 'settings_modify' })
  @Patch(':category')
  async modify(@Param('category') category: string, @Body() body: Values): Promise<object> {
    const names = await this.names(category);
    return this.database.transaction(async () => {
      await this.runtime.change(names, body);
      return this.runtime.show(names);
    });
  }

  @Route({
    operationId: 'settings_reset',
    summary: "Reset a category to the environment's values.",
    systemRole: 'superuser',
    ...ofCategory,
  })
  @Delete(':category')
  async reset(@Param('category') category: string): Promise<void> {
    const names = await this.names(category);
    await this.database.transaction(() => this.runtime.reset(names));
  }

  private async names(category: string): Promise<readonly string[]> {
    const names = await this.runtime.names(category);
    if (!names) throw new NotFound();
    return names;
  }
}

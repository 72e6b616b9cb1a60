import { resource, type ResourceDefinition } from '../../common/resource/define-resource.js';
import { summariesOf } from '../../common/resource/representation.js';
import { selectRows } from '../../common/resource/select-rows.js';
import { sql } from '../../database/sql.js';
import { objectTitleOf } from './value-views.js';

type Context = Parameters<typeof summariesOf>[2];
type Summaries = Awaited<ReturnType<typeof summariesOf>>;

/** Returns the titles of the objects that the caller may read, by id. */
export async function titlesOf(
  definition: ResourceDefinition,
  ids: readonly number[],
  context: Context,
): Promise<Map<number, string>> {
  const summaries = await summariesOf(definition, ids, context);
  const templates = await templatesOf(definition, [...summaries.keys()], context);
  return new Map(
    [...summaries].map(([id, summary]) => {
      const related = { unified_job_template: templates.get(id) };
      const item = { type: definition.type, ...summary, id, summary_fields: related };
      return [id, objectTitleOf(item)];
    }),
  );
}

/** Returns the templates of nodes by node id, because nodes have no names. */
async function templatesOf(
  definition: ResourceDefinition,
  ids: readonly number[],
  context: Context,
): Promise<Summaries> {
  if (definition.field('name') || !definition.field('unified_job_template')) return new Map();
  const columns = sql`t.id, t.unified_job_template_id AS template`;
  const rows = await context.database.rows<{ id: number; template: number | null }>(
    selectRows(definition, 't', columns, sql`t.id = ANY(${ids}::bigint[])`),
  );
  const templates = rows.flatMap(({ template }) => template ?? []);
  const summaries = await summariesOf(resource('unified_job_template'), templates, context);
  return new Map(
    rows.flatMap(({ id, template }) => {
      const summary = template === null ? undefined : summaries.get(template);
      return summary ? [[id, summary] as const] : [];
    }),
  );
}

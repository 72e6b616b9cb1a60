import { Injectable } from '@nestjs/common';
import { ENCRYPTED } from '../common/fields/text.js';
import { currentScope } from '../common/http/request-scope.js';
import { entryOf } from '../common/invariants.js';
import * as json from '../common/fields/json-schema.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { CREDENTIAL_SUMMARY } from '../credentials/credentials.repository.js';
import {
  ResolvedEnvironments,
  TEMPLATE_SHOWS,
  TemplateSummaries,
  type ResolvedEnvironment,
} from '../templates/template-summaries.service.js';
import { shownCredentialsOf, type AttachedCredential } from './job-templates.repository.js';

export const JOB_TEMPLATE_SHOWS: ShownMembers = {
  ...TEMPLATE_SHOWS,
  related: [...(TEMPLATE_SHOWS.related ?? []), 'callback'],
  summary_fields: {
    ...TEMPLATE_SHOWS.summary_fields,
    credentials: json.list(CREDENTIAL_SUMMARY),
    resolved_environment: json.object(
      { id: json.INTEGER, name: json.STRING, description: json.STRING, image: json.STRING },
      ['description', 'image'],
    ),
  },
};

/**
 * Adds the data of job templates that are not columns (docs/contract/resources.md#job-templates).
 */
@Injectable()
export class JobTemplateExtension {
  constructor(
    private readonly summaries: TemplateSummaries,
    private readonly environments: ResolvedEnvironments,
  ) {}

  async extend(rows: readonly Row[], context: RepresentContext): Promise<Map<number, Extension>> {
    const ids = rows.map(({ id }) => id);
    const [common, credentials, environments] = await Promise.all([
      this.summaries.of(resource('job_template'), rows, context),
      context.batch.rows<AttachedCredential>(shownCredentialsOf(ids, context.actor)),
      Promise.all(
        (context.detail ? rows : []).map((row) =>
          context.batch.rows<ResolvedEnvironment>(this.environments.of(row, context.actor)),
        ),
      ),
    ]);
    return new Map(
      rows.map((row, index) => {
        const [environment] = environments[index] ?? [];
        const { related, summary_fields } = entryOf(common, row.id);
        const attached = credentials.filter((credential) => credential.template_id === row.id);
        return [
          row.id,
          {
            fields: maskedFields(row),
            related: { ...related, ...callbackLink(row) },
            summary_fields: {
              ...summary_fields,
              credentials: attached.map(({ template_id: _template, ...credential }) =>
                summarize(credential),
              ),
              ...(environment ? { resolved_environment: summarize(environment) } : {}),
            },
          },
        ];
      }),
    );
  }
}

/** Returns the id and name of an object, and its other fields if the caller can read the object. */
const summarize = ({
  may_read: isReadable,
  id,
  name,
  ...more
}: Omit<AttachedCredential, 'template_id'> | ResolvedEnvironment): object => ({
  id,
  name,
  ...(isReadable ? more : {}),
});

function callbackLink({ id, host_config_key: key }: Row): Record<string, string> {
  return typeof key === 'string' && key !== ''
    ? { callback: `${resource('job_template').url(id)}callback/` }
    : {};
}

/**
 * Masks the callback key, which is a password. The key is visible to callers who can change the template,
 * unless their token is read-only.
 */
function maskedFields({ host_config_key: key, can_edit: canEdit }: Row): Record<string, unknown> {
  const maySee = canEdit === true && currentScope()?.isReadOnly !== true;
  return typeof key === 'string' && key !== '' && !maySee ? { host_config_key: ENCRYPTED } : {};
}

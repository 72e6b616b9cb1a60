import { Injectable } from '@nestjs/common';
import * as json from '../common/fields/json-schema.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { CREDENTIAL_SUMMARY } from '../credentials/credentials.repository.js';
import { passwordsNeeded } from '../credentials/types/inputs.js';
import { LABEL_SUMMARY, labelSummaries } from '../labels/label-links.js';
import { displayArtifacts } from './artifacts.js';
import { PASSWORDS_NEEDED } from './launched-by.js';
import { ShownRuns } from './shown-runs.service.js';
import {
  TemplateRunExtension,
  TEMPLATE_RUN_SHOWS,
  addToExtensions,
} from './template-run.extension.js';
import type { Job } from './job.entity.js';
import { JobCredentialsRepository, type CredentialOfJob } from './job-credentials.repository.js';

export const JOB_SHOWS: ShownMembers = {
  ...TEMPLATE_RUN_SHOWS,
  fields: { ...TEMPLATE_RUN_SHOWS.fields, passwords_needed_to_start: PASSWORDS_NEEDED },
  summary: {
    job_template_id: json.described(json.INTEGER, 'Database id of the job template.'),
    job_template_name: json.described(json.STRING, 'Name of the job template.'),
  },
  summary_fields: {
    ...TEMPLATE_RUN_SHOWS.summary_fields,
    labels: LABEL_SUMMARY,
    credentials: json.list(CREDENTIAL_SUMMARY),
  },
};

/**
 * Adds the fields and summaries of jobs that are not columns (docs/contract/runs.md#jobs). They
 * are loaded in one statement with the other data of a page, except webhook deliveries, which are
 * loaded in parallel if there are any.
 */
@Injectable()
export class JobExtension {
  constructor(
    private readonly templateRuns: TemplateRunExtension,
    private readonly runs: ShownRuns,
    private readonly credentials: JobCredentialsRepository,
  ) {}

  async extend(
    rows: readonly RowOf<Job>[],
    context: RepresentContext,
  ): Promise<Map<number, Extension>> {
    const { actor, batch } = context;
    const ids = rows.map(({ id }) => id);
    const [extensions, credentials, labels, variables] = await Promise.all([
      this.templateRuns.extend(rows, context),
      batch.rows<CredentialOfJob>(this.credentials.ofJobs(ids, actor)),
      labelSummaries(resource('job'), ids, context),
      this.runs.variables(rows, context),
    ]);
    return addToExtensions(extensions, rows, ({ id, artifacts }) => {
      const own = credentials.filter((credential) => credential.job_id === id);
      const needed = own.flatMap((credential) =>
        passwordsNeeded(credential.credential_type, credential.inputs),
      );
      return {
        fields: {
          extra_vars: variables.get(id),
          artifacts: displayArtifacts(artifacts ?? {}),
          passwords_needed_to_start: [...new Set(needed)],
        },
        summary_fields: { labels: labels.get(id), credentials: own.map(summarizeCredential) },
      };
    });
  }
}

/** Returns the summary of a credential for an object that uses it. */
function summarizeCredential({
  id,
  name,
  description,
  credential_type: type,
  may_read: isReadable,
}: CredentialOfJob): object {
  if (!isReadable) return { id, name };
  return { id, name, description, kind: type.namespace ?? '', cloud: type.kind === 'cloud' };
}

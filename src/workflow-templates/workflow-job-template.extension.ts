import { Injectable } from '@nestjs/common';
import { resource, type Row } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext } from '../common/resource/extension.js';
import { TemplateSummaries } from '../templates/template-summaries.service.js';

/**
 * Adds the data of workflow job templates that are not columns
 * (docs/contract/workflows.md#workflow-job-templates).
 */
@Injectable()
export class WorkflowJobTemplateExtension {
  constructor(private readonly summaries: TemplateSummaries) {}

  extend(rows: readonly Row[], context: RepresentContext): Promise<Map<number, Extension>> {
    return this.summaries.of(resource('workflow_job_template'), rows, context);
  }
}

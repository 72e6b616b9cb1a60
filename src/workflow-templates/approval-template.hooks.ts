import { Injectable } from '@nestjs/common';
import { Conflict } from '../common/http/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import type { ResourceHooks } from '../common/resource/hooks.js';
import { ApprovalTemplates } from './approval-templates.service.js';

@Injectable()
export class ApprovalTemplateHooks implements ResourceHooks {
  constructor(private readonly approvals: ApprovalTemplates) {}

  /** The node stays, with nothing to run. */
  async prepareDelete(row: Row): Promise<void> {
    const pending = await this.approvals.pending(row.id);
    if (pending.length > 0) throw new Conflict('Resource is being used by running jobs.');
  }
}
